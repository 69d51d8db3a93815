// SPDX-License-Identifier: Apache-2.0
// Viterbi beam search of one channel on the GPU: its tokens and trace in device memory, and the part of its path that is
// settled. entry.cc makes one for each channel without lattices; SearchLanes (search_lanes.h) advances many together.
#pragma once

#include <vector>

#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/search_graph.h"
#include "plugins/cuda/search_path.h"

namespace asr::cuda {

// Device memory of a channel, in one piece. Channels that ended leave theirs to those that begin.
class ChannelMemory {
 public:
  ChannelMemory(uint32_t max_tokens, uint32_t max_records, uint32_t max_settled);
  // Puts where its parts are into a job.
  void give(SearchJob *job);
  size_t n_bytes() const { return memory_.size() * sizeof(uint32_t); }

 private:
  uint32_t max_tokens_, max_records_, max_settled_;
  DeviceArray<uint32_t> memory_;
};

class Search {
 public:
  Search(const SearchGraph &graph, const asr_search_options &options, ChannelMemory memory);

  uint32_t n_pdfs() const { return graph_.view().n_pdfs; }
  bool died() const { return died_; }

  // The job of consuming rows, or of beginning, and what came of it. Returns whether there is more to do.
  SearchJob job(const float *rows, size_t stride, uint32_t n_frames) const;
  SearchJob begin_job() const;
  bool take(const SearchJob &job);

  // Before a job: makes room where little is left. Must not run beside a job of the channel.
  void prepare(cudaStream_t stream);
  // Room for what did not fit, as far as it is the channel's.
  void grow(uint32_t overflow, cudaStream_t stream);
  // Nothing can be consumed any more.
  void give_up() { died_ = true; }
  ChannelMemory release_memory() { return std::move(memory_); }

  // See asr_backend_api::best_path. The arcs are valid until the next call. `steps` is memory to use.
  void best_path(bool use_final, PinnedArray<TraceStep> *steps, SearchEnd *end, cudaStream_t stream, asr_path *path);

 private:
  // Brings what was settled on the device to the host.
  void drain_settled(cudaStream_t stream);

  const SearchGraph &graph_;
  ChannelMemory memory_;
  SearchJob job_{};  // as it was when the channel was advanced last
  SearchPath path_;
  uint32_t n_frames_ = 0;
  bool died_ = false;
};

}  // namespace asr::cuda
