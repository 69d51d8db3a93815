// SPDX-License-Identifier: Apache-2.0
// SearchLanes has the channels of a device and the advances under way. Two flights (search_flight.h) with different channels
// take turns, so that the device has the next one while the host processes the results of the last. One for a device; used by
// entry.cc.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "plugins/cuda/search/search_flight.h"

namespace asr::gpu {

class SearchLanes {
 public:
  using Task = SearchFlight::Task;
  static constexpr bool kOverlaps = true;  // two advances may be under way
  static constexpr bool kLeaves = true;    // ASR_MAY_LEAVE

  explicit SearchLanes(Device &device);
  ~SearchLanes();

  // Returns a channel, which takes up the tokens of its start state when they are first needed.
  std::unique_ptr<Search> begin(const SearchGraph &graph, const asr_search_options &options);
  void end(std::unique_ptr<Search> search);

  // Starts an advance. The one before the last is finished first; so is the last if it has some of these channels.
  void start(Acoustic *acoustic, const std::vector<Task> &tasks);
  // Finishes advances until at most n_left are under way. With one left, failures of the others stay with their channels.
  void finish_advances(uint32_t n_left) noexcept;
  void finish() noexcept { finish_advances(0); }
  // Finishes the work that reads a score buffer, before the buffer is written or freed.
  void release(const Acoustic *acoustic, uint32_t buffer);

  // Give results of channels. Results that an advance wanted are given at once, lattices on any thread. Other results wait for
  // all advances.
  void best_paths(const std::vector<Search *> &searches, uint32_t wants, asr_path *paths);
  void lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices);
  void lattice_piece(Search *search, asr_raw_lattice *piece) { search->lattice_piece(piece); }  // on any thread

  // Adds the memory of the lanes and of their channels.
  void add_memory(asr_backend_memory *memory) const;

  // Free memory of the device that no running work needs, the cheapest to have again first: that of ended channels, scratch
  // memory, the buffers of a channel that is not held. Return false if there is none. The second may finish advances before.
  bool make_room();
  bool make_room_for_others();
  void run_down_other(const SearchFlight *flight) noexcept;  // than this one
  bool was_short() const { return was_short_; }              // channels had to be parked

 private:
  std::unique_ptr<Search> new_channel(const SearchGraph &graph, const asr_search_options &options);
  bool park_one();
  void keep(KeptRows rows);

  Device &device_;
  const SearchCapacities capacities_;
  std::vector<ClusterSize> cluster_sizes_;  // the largest first
  std::unique_ptr<SearchFlight> flights_[2];
  uint32_t last_ = 0;  // the flight that was started last
  IdleMemory idle_;
  std::set<Search *> searches_;  // begun and not ended
  bool was_short_ = false;
};

}  // namespace asr::gpu
