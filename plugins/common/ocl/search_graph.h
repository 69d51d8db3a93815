// SPDX-License-Identifier: Apache-2.0
// A graph on the device, once for all channels: arcs of 16 bytes, 8 bytes a state for where they begin, 4 for its final cost.
// On the host lattices read the arcs of the view.
#pragma once

#include "plugins/common/begun_options.h"
#include "plugins/common/ocl/device.h"
#include "plugins/common/ocl/kernels/search_types.h"
#include "plugins/common/view_lattice_graph.h"

namespace asr::ocl {

class SearchGraph : public ViewLatticeGraph {
 public:
  SearchGraph(Device &device, const asr_graph_view &view);  // the view's arrays stay readable

  const DeviceArray<SearchArc> &arcs() const { return arcs_; }
  const DeviceArray<ArcBegins> &begins() const { return begins_; }  // [n_states + 1]
  const DeviceArray<float> &final_costs() const { return final_costs_; }

  BegunOptions &begun() const { return begun_; }

 private:
  DeviceArray<SearchArc> arcs_;
  DeviceArray<ArcBegins> begins_;
  DeviceArray<float> final_costs_;
  mutable BegunOptions begun_;
};

}  // namespace asr::ocl
