// SPDX-License-Identifier: Apache-2.0
// Search is the Viterbi beam search of one channel on the GPU. Device memory has its tokens, trace and links; the host has the
// settled parts of its path and lattice. entry.cc makes one for each channel; SearchLanes (search_lanes.h) advances many
// together.
#pragma once

#include <cstddef>
#include <vector>

#include "plugins/cuda/runtime/device.h"
#include "plugins/cuda/search/search_capacities.h"
#include "plugins/gpu/search/search_channel.h"
#include "plugins/gpu/search/search_graph.h"

namespace asr::gpu {

inline SearchTables search_tables(const SearchGraph &graph) {
  return {graph.arcs().data(), graph.begins().data(), graph.final_costs().data(), graph.view().start_state};
}

// ChannelMemory is a channel's device memory, in one piece. Ended channels leave theirs to new ones.
class ChannelMemory {
 public:
  ChannelMemory() = default;  // none
  explicit ChannelMemory(const ChannelSize &size);
  ChannelMemory(ChannelMemory &&) = default;
  ChannelMemory &operator=(ChannelMemory &&) = default;
  // Puts the addresses of its parts into a job.
  void give(SearchJob *job);
  const ChannelSize &size() const { return size_; }
  size_t n_bytes() const { return memory_.size() * sizeof(uint4); }

 private:
  ChannelSize size_{};
  Array<uint4> memory_;
};

// KeptRows has the rows of frames that a job has left for the channel's next. A job reads one array while the rows that it
// leaves go to the other.
struct KeptRows {
  Array<float> rows[2];
  uint32_t current = 0, stride = 0;

  size_t n_bytes() const { return (rows[0].size() + rows[1].size()) * sizeof(float); }
};

// IdleMemory has the memory of ended channels, for new ones, and the memory that channels have outgrown. Outgrown memory is
// freed when the device is idle, because freeing waits for all its work. All idle memory is freed if no other is left.
struct IdleMemory {
  std::vector<ChannelMemory> free[2];  // memory of channels without lattices, and with lattices
  std::vector<ChannelMemory> outgrown;
  std::vector<KeptRows> kept;

  uint64_t n_bytes() const;
  // Frees all of it; returns false if there was none.
  bool release();
};

class Search : public SearchChannel {
 public:
  // size: that of the memory; of a channel that begins parked, the size with which it will come back.
  Search(const SearchGraph &graph, const asr_search_options &options, ChannelMemory memory, const ChannelSize &size,
         IdleMemory *idle);

  // Extend SearchChannel's functions by a job's path.
  bool take(const SearchJob &job);
  SearchJob job(Rows rows, size_t stride, uint32_t n_frames) const;  // with the frames that are left
  SearchJob rest_of(const SearchJob &done) const;
  // Lets a job leave up to max_left frames, if there is memory for them.
  void let_leave(uint32_t max_left, SearchJob *job);
  // Starts to copy the rows that a done job leaves.
  void keep_left(const SearchJob &done, cudaStream_t stream);
  KeptRows release_kept() { return std::move(kept_); }
  void forget_results();

  // Enlarges buffers that are nearly full, before a job. If few channels share the memory, `of_few` raises the capacity for
  // links that wait to be pruned; else it is nullptr. Must not run beside a job of the channel.
  void prepare(const SearchCapacities *of_few, cudaStream_t stream);
  // Enlarges the channel's buffers that overflowed.
  void grow(uint32_t overflow, cudaStream_t stream);
  const ChannelMemory &memory() const { return memory_; }
  size_t n_kept_bytes() const { return kept_.n_bytes(); }
  ChannelMemory release_memory() { return std::move(memory_); }

  // See DeviceLanes. Nothing that they did not have before is lost if they fail.
  bool is_parked() const { return memory_.n_bytes() == 0; }
  void park(uint32_t overflow, bool may_shrink, cudaStream_t stream);
  void bring_back(cudaStream_t stream);
  // Puts the addresses and sizes of the channel's buffers into a job that was made before they moved.
  void renew(SearchJob *job);

  // See asr_backend_api::best_paths. path_job() returns the job without the buffers it writes to; best_path() fills the path
  // when the job is done. The arcs are valid until the next call.
  SearchPathJob path_job(uint32_t wants) const;
  uint32_t max_path_steps() const { return job_.n_records; }
  void best_path(const SearchPathJob &done, asr_path *path);

  // Keep and give the path that a job wanted. keep_path() copies it from the job's buffers, before the channel's next job.
  // give_wanted_path() gives it once, and returns false if there is no path of this kind.
  void keep_path(const SearchPathJob &done);
  bool give_wanted_path(uint32_t wants, asr_path *path);

  // See ASR_WANTS_PIECE of asr_backend_api::best_paths.
  void path_piece(asr_path *path) {
    settle_kept();
    path_.give_settled(path);
  }

 private:
  // Copies the steps that settled on the device to the host.
  void drain_settled(cudaStream_t stream);
  void settle_kept();
  void resize(const ChannelSize &size, cudaStream_t stream);

  ChannelMemory memory_;           // none while parked
  KeptRows kept_;                  // none until a job may leave frames
  ChannelSize size_;               // of the memory, or with which it comes back
  std::vector<std::byte> parked_;  // what the memory had
  IdleMemory *const idle_;

  struct WantedPath {
    std::vector<PathStep> steps;
    PathEnd end;
    bool use_final, has_common;
  };
  std::vector<PathStep> kept_settled_;  // to be settled before the next path is given
  std::optional<WantedPath> wanted_path_;
};

// SearchLane is a channel's part of a launch.
struct SearchLane {
  Search *search;
  SearchJob job;
  bool is_rest = false;  // a part of the job was done before
};

}  // namespace asr::gpu
