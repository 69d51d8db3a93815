// SPDX-License-Identifier: Apache-2.0
// A graph on the device, once for all channels: arcs of 16 bytes, 8 bytes a state for where they begin, 4 for its final cost.
// Channels that make lattices search on the host; the host's form of the graph is made when the first of them begins.
#pragma once

#include <mutex>
#include <optional>

#include "plugins/common/ocl/device.h"
#include "plugins/common/ocl/kernels/search_types.h"
#include "plugins/cpu/search_graph.h"

namespace asr::ocl {

class SearchGraph {
 public:
  SearchGraph(Device &device, const asr_graph_view &view);  // the view's arrays stay readable

  const asr_graph_view &view() const { return view_; }
  const DeviceArray<SearchArc> &arcs() const { return arcs_; }
  const DeviceArray<SearchBegins> &begins() const { return begins_; }  // [n_states + 1]
  const DeviceArray<float> &final_costs() const { return final_costs_; }
  const cpu::SearchGraph &on_host();

 private:
  const asr_graph_view view_;
  DeviceArray<SearchArc> arcs_;
  DeviceArray<SearchBegins> begins_;
  DeviceArray<float> final_costs_;
  std::once_flag on_host_made_;
  std::optional<cpu::SearchGraph> on_host_;
};

}  // namespace asr::ocl
