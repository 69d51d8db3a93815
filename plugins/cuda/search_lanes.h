// SPDX-License-Identifier: Apache-2.0
// SearchLanes has the channels of a device and the advances under way. Two flights (search_flight.h) with different channels
// take turns, so that the device has the next one while the host processes the results of the last. One for a device; used by
// entry.cc.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "plugins/cuda/search_flight.h"

namespace asr::cuda {

class SearchLanes {
 public:
  using Task = SearchFlight::Task;

  explicit SearchLanes(Device &device);

  // Returns a channel, which takes up the tokens of its start state when they are first needed.
  std::unique_ptr<Search> begin(const SearchGraph &graph, const asr_search_options &options);
  void end(std::unique_ptr<Search> search);

  // Starts an advance. The one before the last is finished first; so is the last if it has some of these channels.
  void start(Acoustic *acoustic, const std::vector<Task> &tasks);
  // Finishes advances until at most n_left are under way. With one left, failures of the others stay with their channels.
  void finish_advances(uint32_t n_left) noexcept;
  void finish() noexcept { finish_advances(0); }
  void wait();  // finishes, and throws the first failure
  // Finishes the work that reads a score buffer, before the buffer is written or freed.
  void release(const Acoustic *acoustic, uint32_t buffer);

  // Give results of channels. Results that an advance wanted are given at once, lattices on any thread. Other results wait for
  // all advances.
  void best_paths(const std::vector<Search *> &searches, uint32_t wants, asr_path *paths);
  void lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices);
  void lattice_piece(Search *search, asr_raw_lattice *piece) { search->lattice_piece(piece); }  // on any thread

  // Adds the memory of the lanes and of their channels.
  void add_memory(asr_backend_memory *memory) const;

 private:
  ChannelMemory memory_for(bool makes_lattice);

  const SearchCapacities capacities_;
  std::vector<ClusterSize> cluster_sizes_;  // the largest first
  std::unique_ptr<SearchFlight> flights_[2];
  uint32_t last_ = 0;  // the flight that was started last
  IdleMemory idle_;
  std::set<const Search *> searches_;  // begun and not ended
};

}  // namespace asr::cuda
