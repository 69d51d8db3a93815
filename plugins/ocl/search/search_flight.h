// SPDX-License-Identifier: Apache-2.0
// SearchFlight advances many channels in one launch, a work-group each. It owns the groups' scratch memory and uploads rows of
// the host. If a frame does not fit, it enlarges the channel's memory or the scratch memory. One for a device; used by
// backend.cc.
#pragma once

#include <array>
#include <memory>
#include <set>
#include <vector>

#include "core/backend/asr_backend_bench.h"
#include "plugins/gpu/scores/acoustic.h"
#include "plugins/gpu/search/lanes.h"
#include "plugins/ocl/search/search.h"
#include "plugins/ocl/search/search_capacities.h"
#include "plugins/ocl/search/search_program.h"

namespace asr::gpu {

class SearchFlight final : public DeviceLanes {
 public:
  static constexpr bool kOverlaps = false;  // one advance is under way at a time
  static constexpr bool kLeaves = false;    // ASR_MAY_LEAVE

  explicit SearchFlight(Device &device)
      : SearchFlight(device, search_tuning(device.facts(), device.initial_capacity_shift())) {}
  SearchFlight(Device &device, const SearchTuning &tuning);
  ~SearchFlight();

  // Returns a channel, which takes up the tokens of its start state.
  std::unique_ptr<Search> begin(const SearchGraph &graph, const asr_search_options &options);
  void end(std::unique_ptr<Search> search);
  // Starts advancing; earlier work is finished first.
  void start(Acoustic *acoustic, const std::vector<Task> &tasks);
  void finish_advances(uint32_t) noexcept { finish(); }
  // Adds the memory of the lanes and of their channels.
  void add_memory(asr_backend_memory *memory) const;
  double kernel_seconds() { return queue_.kernel_seconds(); }

  // The steps of DeviceLanes; CUDA's search_flight.h says what each of them does.
  void reserve_jobs(bool is_rest);
  void launch_jobs(bool is_rest);
  void await() {
    queue_.finish();
    is_running_ = false;
  }
  const SearchJob &done_job(size_t i) { return jobs_.data()[i]; }
  SearchLane lane_of(Search *search, const SearchJob &job) { return {search, &rows_, job}; }
  void grow(Search *search, uint32_t overflow) { search->grow(overflow); }
  void grow_scratch(uint32_t overflow);
  void shrink_scratch() noexcept;
  bool make_room();
  void run_down_others() noexcept {}
  void park(Search *search, uint32_t overflow, bool may_shrink) { search->park(overflow, may_shrink); }
  void bring_back(Search *search) { search->bring_back(); }
  void read(uint64_t address, void *to, size_t n_bytes) { queue_.read(pool_.memory().get(), address, to, n_bytes); }
  void finish_reads() { queue_.finish(); }
  void finish_keeping() {}  // no job leaves frames
  void find_paths(const std::vector<Search *> &searches, uint32_t wants, uint32_t max_steps);
  bool is_path_whole(size_t i) { return ends_.data()[i].n_steps <= path_jobs_.data()[i].max_steps; }
  void give_path(size_t i, Search *search, asr_path *path) {
    search->best_path(ends_.data()[i], steps_.data() + path_jobs_.data()[i].steps, path);
  }

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

  Device &device_;
  Queue queue_;
  const SearchProgram program_;
  ChannelPool pool_;
  SearchCapacities capacities_;  // capacities of the next channel; max_links is that of the last one
  uint32_t max_slots_ = capacities_.max_slots, max_candidates_ = capacities_.max_candidates;
  Array<std::array<uint32_t, 4>> scratch_;
  uint32_t n_scratch_ = 0, scratch_slots_ = 0, scratch_candidates_ = 0;  // as it is laid out: for so many groups
  bool is_scratch_short_ = false;                                        // there was no memory for more groups
  uint32_t n_short_ = 0;                                                 // launches that had too few
  bool is_running_ = false;                                              // a launch may use scratch memory
  Array<float> rows_;
  Array<SearchJob> device_jobs_;
  Pinned<SearchJob> jobs_;
  Array<SearchPathJob> device_path_jobs_;
  Array<PathStep> device_steps_;
  Array<SearchEnd> device_ends_;
  Pinned<SearchPathJob> path_jobs_;
  Pinned<PathStep> steps_;
  Pinned<SearchEnd> ends_;
  std::set<Search *> searches_;  // begun and not ended
  uint32_t max_channels_ = 0;    // their largest number
};

}  // namespace asr::gpu
