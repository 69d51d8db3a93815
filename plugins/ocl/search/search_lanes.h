// SPDX-License-Identifier: Apache-2.0
// SearchLanes advances many channels in one launch, a work-group each. It owns the groups' scratch memory and uploads rows of
// the host. If a frame does not fit, it enlarges the channel's memory or the scratch memory. One for a device; used by
// backend.cc.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <vector>

#include "core/backend/asr_backend_bench.h"
#include "plugins/gpu/search/lanes.h"
#include "plugins/ocl/scores/acoustic.h"
#include "plugins/ocl/search/search.h"
#include "plugins/ocl/search/search_capacities.h"
#include "plugins/ocl/search/search_program.h"

namespace asr::ocl {

// SearchLane is a channel's job and the array of its rows.
struct SearchLane {
  Search *search;
  const DeviceArray<float> *rows;
  SearchJob job;
  bool is_rest = false;  // the job was done in part before
};

class SearchLanes final : public DeviceLanes<SearchLane, Acoustic, Runtime> {
 public:
  explicit SearchLanes(Device &device) : SearchLanes(device, search_tuning(device.facts(), device.initial_capacity_shift())) {}
  SearchLanes(Device &device, const SearchTuning &tuning);
  ~SearchLanes() override;

  // Returns a channel, which takes up the tokens of its start state.
  std::unique_ptr<Search> begin(const SearchGraph &graph, const asr_search_options &options);
  void end(std::unique_ptr<Search> search);
  // Starts advancing; earlier work is finished first.
  void start(Acoustic *acoustic, const std::vector<Task> &tasks);
  // Adds the memory of the lanes and of their channels.
  void add_memory(asr_backend_memory *memory) const;
  double kernel_seconds() { return queue_.kernel_seconds(); }

 private:
  // Runs an action that starts copies from and to host memory. If it throws, waits for them first: the caller may free that
  // memory then.
  template <typename Action>
  void finishing_if_it_fails(const Action &action) {
    try {
      action();
    } catch (...) {
      try {
        queue_.finish();
      } catch (...) {  // the first failure counts
      }
      throw;
    }
  }
  std::unique_ptr<Search> new_channel(const SearchGraph &graph, const asr_search_options &options);
  bool make_room_for_others();
  bool release_scratch();
  bool park_one();
  uint32_t affordable_groups(uint32_t n_groups) const;
  void reserve_scratch(uint32_t n_groups);
  void start_tasks(Acoustic *acoustic, const std::vector<Task> &tasks);
  std::vector<uint64_t> upload(const std::vector<Task> &tasks);
  void launch(size_t first, size_t end);
  void reserve_jobs(bool is_rest) override;
  void launch_jobs(bool is_rest) override;
  void await() override {
    queue_.finish();
    is_running_ = false;
  }
  const SearchJob &done_job(size_t i) override { return jobs_.data()[i]; }
  SearchLane lane_of(Search *search, const SearchJob &job) override { return {search, &rows_, job}; }
  void grow(Search *search, uint32_t overflow) override { search->grow(overflow); }
  void grow_scratch(uint32_t overflow) override;
  void shrink_scratch() noexcept override;
  bool make_room() override;
  void run_down_others() noexcept override {}
  void park(Search *search, uint32_t overflow, bool may_shrink) override { search->park(overflow, may_shrink); }
  void bring_back(Search *search) override { search->bring_back(); }
  void read(uint64_t address, void *to, size_t n_bytes) override { queue_.read(pool_.memory().get(), address, to, n_bytes); }
  void finish_reads() override { queue_.finish(); }
  void find_paths(const std::vector<Search *> &searches, uint32_t wants, uint32_t max_steps) override;
  bool is_path_whole(size_t i) override { return ends_.data()[i].n_steps <= path_jobs_.data()[i].max_steps; }
  void give_path(size_t i, Search *search, asr_path *path) override {
    search->best_path(ends_.data()[i], steps_.data() + path_jobs_.data()[i].steps, path);
  }

  Device &device_;
  Queue queue_;
  const SearchProgram program_;
  ChannelPool pool_;
  SearchCapacities capacities_;  // capacities of the next channel; max_links is that of the last one
  uint32_t max_slots_ = capacities_.max_slots, max_candidates_ = capacities_.max_candidates;
  DeviceArray<std::array<uint32_t, 4>> scratch_;
  uint32_t n_scratch_ = 0, scratch_slots_ = 0, scratch_candidates_ = 0;  // as it is laid out: for so many groups
  bool is_scratch_short_ = false;                                        // there was no memory for more groups
  uint32_t n_short_ = 0;                                                 // launches that had too few
  bool is_running_ = false;                                              // a launch may use scratch memory
  DeviceArray<float> rows_;
  DeviceArray<SearchJob> device_jobs_;
  PinnedArray<SearchJob> jobs_;
  DeviceArray<SearchPathJob> device_path_jobs_;
  DeviceArray<PathStep> device_steps_;
  DeviceArray<SearchEnd> device_ends_;
  PinnedArray<SearchPathJob> path_jobs_;
  PinnedArray<PathStep> steps_;
  PinnedArray<SearchEnd> ends_;
  std::set<Search *> searches_;  // begun and not ended
  uint32_t max_channels_ = 0;    // their largest number
};

}  // namespace asr::ocl
