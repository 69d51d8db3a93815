// SPDX-License-Identifier: Apache-2.0
// Advances many channels in one launch, a block or a cluster of blocks each: scratch memory of the blocks, rows of the host on
// their way to the device, and what happens when a channel's memory or the scratch is too small for a frame. One for a device;
// used by entry.cc.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "plugins/common/device_lanes.h"
#include "plugins/common/staging.h"
#include "plugins/cuda/acoustic.h"
#include "plugins/cuda/search.h"

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
  // Starts advancing; the advance before is finished first, beside which rows of the host come to the device.
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
  SearchPathPlace next_path_place();
  void start_jobs() override;
  void await() override;
  void take_results() override;
  bool take_result(const SearchLane &lane, const SearchJob &done);
  void take_settled(const std::vector<SearchLane> &lanes);
  std::unique_ptr<LatticeReader> next_reader();
  void keep(std::unique_ptr<LatticeReader> reader);
  void drop_reader(Search *search);
  bool overlaps() const override { return true; }
  bool give_wanted_path(Search *search, bool use_final, asr_path *path) override {
    return search->give_wanted_path(use_final, path);
  }
  void deliver() noexcept override;
  SearchLane lane_of_begin(Search *search) override { return {search, search->begin_job()}; }
  void find_paths(const std::vector<Search *> &searches, bool use_final, uint32_t max_steps) override;
  bool is_path_whole(size_t i) override { return ends_.data()[i].n_steps <= path_jobs_.data()[i].place.max_steps; }
  void give_path(size_t i, Search *search, asr_path *path) override { search->best_path(path_jobs_.data()[i], path); }

  Device &device_;
  Stream stream_, uploads_, downloads_;
  Event uploaded_;
  Staging<Runtime> staging_;
  std::vector<Clusters> clusters_;  // the largest first
  uint32_t n_shared_slots_, max_tokens_ = kMaxTokens, max_candidates_ = kMaxCandidates;
  DeviceArray<uint4> scratch_;
  SearchScratch laid_out_{};  // in scratch_, for n_scratch_ blocks
  uint32_t n_scratch_ = 0;
  DeviceArray<float> rows_[2];  // of the host, of one advance and of the next
  size_t n_uploads_ = 0;
  PinnedArray<SearchJob> jobs_;
  PinnedArray<SearchPathJob> path_jobs_;
  PinnedArray<PathStep> steps_;
  PinnedArray<SearchEnd> ends_;
  PinnedArray<PathStep> wanted_steps_;  // of the jobs under way, kWantedSteps and then kMaxSettled of each
  PinnedArray<SearchEnd> wanted_ends_;
  size_t n_wanted_ = 0;
  struct Settling {
    Search *search;
    std::unique_ptr<LatticeReader> reader;
  };
  std::vector<Settling> settling_;  // was read, has yet to be appended to what the host has
  std::mutex readers_mutex_;
  std::vector<std::unique_ptr<LatticeReader>> free_readers_;
  std::vector<ChannelMemory> free_memory_[2];  // of channels without lattices, with
  std::set<const Search *> searches_;          // that have begun

  // To begin with; they double when a frame does not fit.
  static constexpr uint32_t kMaxTokens = 1u << 14, kMaxCandidates = 1u << 16, kMaxSettled = 1u << 12;
  static constexpr uint32_t kWantedSteps = 2048;  // longer paths are found once more
  static constexpr uint32_t kMaxRecords = 112u << 10, kMaxLinks = 80u << 10, kMaxFrames = 1u << 11;
};

}  // namespace asr::cuda
