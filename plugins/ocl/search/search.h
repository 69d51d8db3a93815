// SPDX-License-Identifier: Apache-2.0
// Search is the Viterbi beam search of one channel on the device. Device memory has its tokens, trace and links; the host has
// the settled parts of its path and lattice. backend.cc makes one for each channel; SearchLanes (search_lanes.h) advances many
// together.
#pragma once

#include <cstddef>
#include <vector>

#include "plugins/gpu/search/search_channel.h"
#include "plugins/gpu/search/search_graph.h"
#include "plugins/ocl/runtime/device.h"
#include "plugins/ocl/search/search_memory.h"

namespace asr::gpu {

class Search : public SearchChannel {
 public:
  // `size`: of the memory; of a channel that begins parked, without memory, the size with which it will come back.
  Search(const SearchGraph &graph, const asr_search_options &options, ChannelPool &pool, ChannelMemory memory,
         const ChannelSize &size);

  uint32_t max_links() const { return size_.max_links; }

  // Enlarges buffers that are nearly full, before a job. Must not run beside a job of any channel.
  void prepare();
  // Enlarges the channel's buffers that overflowed.
  void grow(uint32_t overflow);

  // See DeviceLanes. Nothing that they did not have before is lost if they fail.
  bool is_parked() const { return memory_.is_none(); }
  void park(uint32_t overflow, bool may_shrink);
  void bring_back();
  // Puts the offset and sizes of the channel's buffers into a job that was made before they moved.
  void renew(SearchJob *job) const;

  // See asr_backend_api::best_paths. path_job() returns the job without the offset of its steps. The settled steps are on the
  // host when the queue is finished. best_path() takes the found steps, the last first; the arcs are valid until the next call.
  SearchPathJob path_job() const;
  void start_draining();
  void best_path(const SearchEnd &end, const PathStep *steps, asr_path *path);

  // See ASR_WANTS_PIECE of asr_backend_api::best_paths.
  void path_piece(asr_path *path) { path_.give_settled(path); }

 private:
  // Copies the steps that settled on the device to the host.
  void drain();
  void end_draining();

  ChannelPool &pool_;
  ChannelMemory memory_;           // none while parked
  ChannelSize size_;               // of the memory, or with which it comes back
  std::vector<std::byte> parked_;  // what the memory had
  std::vector<PathStep> drained_;  // settled steps under way to the host
};

// SearchLane is a channel's part of a launch, and the array of its rows.
struct SearchLane {
  Search *search;
  const Array<float> *rows;
  SearchJob job;
  bool is_rest = false;  // a part of the job was done before
};

}  // namespace asr::gpu
