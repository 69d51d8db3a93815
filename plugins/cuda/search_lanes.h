// SPDX-License-Identifier: Apache-2.0
// The channels of a device and the advances that are under way. Two flights take turns (search_flight.h), with different
// channels, so that the device has the next one while the host processes the results of the one before. One for a device; used
// by entry.cc.
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

  // A channel, which takes up the tokens of its start state when they are first needed.
  std::unique_ptr<Search> begin(const SearchGraph &graph, const asr_search_options &options);
  void end(std::unique_ptr<Search> search);

  // Starts advancing; the advance before the last is finished first, and the last if it has channels of these.
  void start(Acoustic *acoustic, const std::vector<Task> &tasks);
  // Until at most n_left advances are under way. With one left, what failed of the others is only their channels' outcome.
  void finish_advances(uint32_t n_left) noexcept;
  void finish() noexcept { finish_advances(0); }
  void wait();  // also throws what failed
  // Before a score buffer is written or freed.
  void release(const Acoustic *acoustic, uint32_t buffer);

  // Give results of channels. Those that an advance wanted are given at once, lattices on any thread; for others all advances
  // are finished first.
  void best_paths(const std::vector<Search *> &searches, uint32_t wants, asr_path *paths);
  void lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices);
  void lattice_piece(Search *search, asr_raw_lattice *piece) { search->lattice_piece(piece); }  // on any thread

  // The lanes' and the channels' part.
  void add_memory(asr_backend_memory *memory) const;

 private:
  ChannelMemory memory_for(bool makes_lattice);

  const SearchCapacities capacities_;
  std::vector<ClusterSize> cluster_sizes_;  // the largest first
  std::unique_ptr<SearchFlight> flights_[2];
  uint32_t last_ = 0;  // which was started last
  IdleMemory idle_;
  std::set<const Search *> searches_;  // that have begun
};

}  // namespace asr::cuda
