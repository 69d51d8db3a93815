// SPDX-License-Identifier: Apache-2.0
// Channels that are advanced in one launch, a block or a cluster of blocks each: scratch memory of the blocks, rows of the host
// on their way to the device, and what happens when a channel's memory or the scratch is too small for a frame. SearchLanes
// (search_lanes.h) has two, so that the device always has the next one.
#pragma once

#include <memory>
#include <vector>

#include "core/backend/asr_backend_bench.h"
#include "plugins/common/device_lanes.h"
#include "plugins/common/staging.h"
#include "plugins/cuda/acoustic.h"
#include "plugins/cuda/search.h"

namespace asr::cuda {

// A size of clusters, and how many of it run beside each other.
struct ClusterSize {
  uint32_t n_blocks, n_clusters;
};

struct SearchLane {
  Search *search;
  SearchJob job;
  bool is_rest = false;  // of a job of which a part was done
};

class SearchFlight final : public DeviceLanes<SearchLane, Acoustic> {
 public:
  SearchFlight(Device &device, const SearchRooms &rooms, const std::vector<ClusterSize> &cluster_sizes);
  ~SearchFlight() override;

  // Starts advancing, once the advance before is finished, and `other` if it has channels of these; rows of the host come to the
  // device beside both.
  void start(Acoustic *acoustic, const std::vector<Task> &tasks, SearchFlight *other);
  // The channel takes up the tokens of its start state now.
  void begin(Search *search) { run_at_once({lane_of_begin(search)}); }
  using DeviceLanes::is_pending;
  bool shares(const std::vector<Task> &tasks) const;
  // Of many channels in one launch; threads of the pool make the arrays.
  void lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices);
  // The lanes' part.
  void add_memory(asr_backend_memory *memory) const;

 private:
  uint32_t cluster_size_for(const std::vector<SearchLane> &lanes) const;
  void reserve_scratch(uint32_t n_blocks, Stream &stream);
  void launch_jobs(Stream &stream);
  std::vector<const float *> upload(const std::vector<Task> &tasks);
  SearchPathPlace next_path_place();
  void prepare(Search *search, bool few_channels);
  void start_jobs() override { launch_jobs(stream_); }
  void await() override;
  void take_results() override;
  bool take_result(const SearchLane &lane, const SearchJob &done);
  void read_lattices(const std::vector<SearchLane> &lanes);
  SearchLane lane_of_begin(Search *search) override { return {search, search->begin_job()}; }
  void find_paths(const std::vector<Search *> &searches, uint32_t wants, uint32_t max_steps) override;
  bool is_path_whole(size_t i) override { return ends_.data()[i].n_steps <= path_jobs_.data()[i].place.max_steps; }
  void give_path(size_t i, Search *search, asr_path *path) override { search->best_path(path_jobs_.data()[i], path); }

  Device &device_;
  Stream stream_, uploads_, downloads_;
  Stream urgent_{Stream::kUrgent};  // for what is done again: its blocks go before those of the other flight
  Event uploaded_;
  Staging<Runtime> staging_;
  const SearchRooms &rooms_;
  const std::vector<ClusterSize> &cluster_sizes_;  // the largest first
  uint32_t max_tokens_, max_candidates_;           // of scratch memory
  DeviceArray<uint4> scratch_;
  DeviceArray<uint32_t> busy_;  // SearchScratch::busy
  SearchScratch laid_out_{};  // in scratch_, for n_scratch_ blocks
  uint32_t n_scratch_ = 0, n_wanted_parts_ = 0;  // fewer where there is little memory
  DeviceArray<float> rows_[2];  // of the host, of one advance and of the next
  size_t n_uploads_ = 0;
  PinnedArray<SearchJob> jobs_;
  PinnedArray<SearchPathJob> path_jobs_;
  PinnedArray<PathStep> steps_;
  PinnedArray<SearchEnd> ends_;
  PinnedArray<PathStep> wanted_steps_;  // of the jobs under way, kWantedSteps and then kMaxSettled of each
  PinnedArray<SearchEnd> wanted_ends_;
  size_t n_wanted_ = 0;
  PinnedArena lattices_;  // on their way to the host
  size_t n_beside_ = 0;  // channels under way in the other flight

  static constexpr uint32_t kWantedSteps = 2048;  // longer paths are found once more
};

}  // namespace asr::cuda
