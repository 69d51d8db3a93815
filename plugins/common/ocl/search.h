// SPDX-License-Identifier: Apache-2.0
// Search is the Viterbi beam search of one channel on the device. Device memory has its tokens, trace and links; the host has
// the settled parts of its path and lattice. backend.cc makes one for each channel; SearchLanes (search_lanes.h) advances many
// together.
#pragma once

#include <vector>

#include "plugins/common/device/search_channel.h"
#include "plugins/common/device/search_graph.h"
#include "plugins/common/ocl/device.h"
#include "plugins/common/ocl/search_capacities.h"
#include "plugins/common/ocl/search_memory.h"

namespace asr::ocl {

class SearchGraph : public DeviceGraph<Runtime> {
 public:
  SearchGraph(Device &device, const asr_graph_view &view)
      : DeviceGraph(view, device.pool(), device.context().at_once(), device.context()) {}
};

class Search : public SearchChannel<SearchJob, SearchGraph> {
 public:
  // `capacities` are the channel's initial ones; the links' count only if it makes lattices.
  Search(const SearchGraph &graph, const asr_search_options &options, ChannelPool &pool, const SearchCapacities &capacities);

  uint32_t max_links() const { return job_.lattice.max_links; }

  // Enlarges buffers that are nearly full, before a job. Must not run beside a job of any channel.
  void prepare();
  // Enlarges the channel's buffers that overflowed.
  void grow(uint32_t overflow);

  // See asr_backend_api::best_paths. path_job() returns the job without the offset of its steps. The settled steps are on the
  // host when the queue is finished. best_path() takes the found steps, the last first; the arcs are valid until the next call.
  SearchPathJob path_job() const;
  void start_draining();
  void best_path(const SearchEnd &end, const PathStep *steps, asr_path *path);

 private:
  // Copies the steps that settled on the device to the host.
  void drain();
  void end_draining();

  ChannelPool &pool_;
  ChannelMemory memory_;
  std::vector<PathStep> drained_;  // settled steps under way to the host
};

}  // namespace asr::ocl
