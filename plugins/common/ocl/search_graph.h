// SPDX-License-Identifier: Apache-2.0
// A graph on the device, once for all channels: arcs of 16 bytes, 8 bytes a state for where they begin, 4 for its final cost.
// On the host lattices read the arcs of the view.
#pragma once

#include <mutex>
#include <vector>

#include "plugins/common/lattice_frames.h"
#include "plugins/common/ocl/device.h"
#include "plugins/common/ocl/kernels/search_types.h"

namespace asr::ocl {

class SearchGraph : public LatticeGraph {
 public:
  SearchGraph(Device &device, const asr_graph_view &view);  // the view's arrays stay readable

  const asr_graph_view &view() const { return view_; }
  const DeviceArray<SearchArc> &arcs() const { return arcs_; }
  const DeviceArray<SearchBegins> &begins() const { return begins_; }  // [n_states + 1]
  const DeviceArray<float> &final_costs() const { return final_costs_; }

  uint32_t start_state() const override { return view_.start_state; }
  uint32_t next_state(size_t arc) const override { return view_.arcs[arc].next_state; }
  asr_graph_arc arc(uint32_t index) const override { return view_.arcs[index]; }
  const uint32_t *epsilon_ranks() const override;  // found at the first call

 private:
  const asr_graph_view view_;
  DeviceArray<SearchArc> arcs_;
  DeviceArray<SearchBegins> begins_;
  DeviceArray<float> final_costs_;
  mutable std::once_flag ranked_;
  mutable std::vector<uint32_t> epsilon_ranks_;  // [n_states]; empty if there is a cycle
};

}  // namespace asr::ocl
