// SPDX-License-Identifier: Apache-2.0
// Advances many channels in one launch, a block or a cluster of blocks each: scratch memory of the blocks, rows of the host on
// their way to the device, and what happens when a channel's memory or the scratch is too small for a frame. One for a device;
// used by entry.cc.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "plugins/common/device_lanes.h"
#include "plugins/common/staging.h"
#include "plugins/cuda/acoustic.h"
#include "plugins/cuda/search.h"
#include "plugins/cuda/search_rooms.h"

namespace asr::cuda {

struct SearchLane {
  Search *search;
  SearchJob job;
};

class SearchLanes final : public DeviceLanes<SearchLane, Acoustic> {
 public:
  explicit SearchLanes(Device &device);
  ~SearchLanes() override;

  // A channel, which takes up the tokens of its start state when they are first needed.
  std::unique_ptr<Search> begin(const SearchGraph &graph, const asr_search_options &options);
  void end(std::unique_ptr<Search> search);
  // Starts advancing; earlier work is finished first, beside which rows of the host come to the device.
  void start(Acoustic *acoustic, const std::vector<Task> &tasks);
  // Of many channels in one launch; threads of the pool make the arrays.
  void lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices);
  // The lanes' and the channels' part.
  void add_memory(asr_backend_memory *memory) const;

 private:
  struct Clusters {
    uint32_t size, n_clusters;  // so many beside each other
  };
  uint32_t cluster_size_for(const std::vector<SearchLane> &lanes) const;
  void reserve_scratch(uint32_t n_blocks);
  std::vector<const float *> upload(const std::vector<Task> &tasks);
  void start_jobs() override;
  void await() override;
  void take_results() override;
  SearchLane lane_of_begin(Search *search) override { return {search, search->begin_job()}; }
  void find_paths(const std::vector<Search *> &searches, bool use_final, uint32_t max_steps) override;
  bool is_path_whole(size_t i) override { return ends_.data()[i].n_steps <= path_jobs_.data()[i].max_steps; }
  void give_path(size_t i, Search *search, asr_path *path) override { search->best_path(path_jobs_.data()[i], path); }

  Device &device_;
  Stream stream_, uploads_;
  Event uploaded_;
  Staging<Runtime> staging_;
  std::vector<Clusters> clusters_;  // the largest first
  const SearchRooms rooms_;
  uint32_t max_tokens_ = rooms_.max_tokens, max_candidates_ = rooms_.max_candidates;
  DeviceArray<uint4> scratch_;
  SearchScratch laid_out_{};  // in scratch_, for n_scratch_ blocks
  uint32_t n_scratch_ = 0;
  DeviceArray<float> rows_[2];  // of the host, of one advance and of the next
  size_t n_uploads_ = 0;
  PinnedArray<SearchJob> jobs_;
  PinnedArray<SearchPathJob> path_jobs_;
  PinnedArray<PathStep> steps_;
  PinnedArray<SearchEnd> ends_;
  std::vector<LatticeReader> readers_{1};
  std::vector<ChannelMemory> free_memory_[2];  // of channels without lattices, with
  std::set<const Search *> searches_;          // that have begun
};

}  // namespace asr::cuda
