// SPDX-License-Identifier: Apache-2.0
// A graph on the device, once for all channels: arcs of 16 bytes, 8 bytes a state for where they begin, 4 for its final cost.
// On the host lattices read the arcs of the view.
#pragma once

#include <optional>
#include <utility>

#include "plugins/common/view_lattice_graph.h"
#include "plugins/cuda/device.h"
#include "plugins/cuda/kernels/search.h"

namespace asr::cuda {

class SearchGraph : public ViewLatticeGraph {
 public:
  SearchGraph(Device &device, const asr_graph_view &view);  // the view's arrays stay readable

  SearchTables tables() const;

  // Whether a channel with these options has begun without an error: then others will.
  bool begins(const asr_search_options &options) const { return begun_ == key(options); }
  void note_begun(const asr_search_options &options) const { begun_ = key(options); }

 private:
  using Key = std::pair<float, float>;  // what errors depend on
  static Key key(const asr_search_options &options) { return {options.beam, options.word_insertion_cost}; }

  DeviceArray<SearchArc> arcs_;
  DeviceArray<ArcBegins> begins_;
  DeviceArray<float> final_costs_;
  mutable std::optional<Key> begun_;
};

}  // namespace asr::cuda
