// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search_lanes.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace asr::cuda {

SearchLanes::SearchLanes(Device &device) : rooms_(device.small_rooms(), search_shared_slots(device.shared_bytes()), device.memory_bytes()) {
  check(prepare_search(rooms_.n_shared_slots), "preparing the search kernel");
  const uint32_t wanted = device.cluster_blocks(), largest = wanted == 0 ? kMaxClusterSize : std::min(wanted, kMaxClusterSize);
  for (uint32_t size = largest, most = 0; size > 1 && size >= (wanted == 0 ? kMinClusterSize : largest); --size) {
    uint32_t n_clusters = 0;
    check(prepare_search_clusters(size, &n_clusters), "preparing the search kernel");
    if (n_clusters > most) cluster_sizes_.push_back({size, most = n_clusters});
  }
  for (auto &flight : flights_) flight = std::make_unique<SearchFlight>(device, rooms_, cluster_sizes_);
}

// That of a channel that has ended, or new. Where there is none left, what ended channels have is given back first.
ChannelMemory SearchLanes::memory_for(bool makes_lattice) {
  std::vector<ChannelMemory> &free = free_memory_[makes_lattice ? 1 : 0];
  if (!free.empty()) {
    ChannelMemory memory = std::move(free.back());
    free.pop_back();
    return memory;
  }
  const ChannelSize size{rooms_.channel_tokens, rooms_.max_records, rooms_.max_settled, makes_lattice ? rooms_.max_links : 0,
                         makes_lattice ? rooms_.max_frames : 0};
  try {
    return ChannelMemory(size);
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY) throw;
  }
  outgrown_.clear();
  for (auto &memory : free_memory_) memory.clear();
  return ChannelMemory(size);
}

std::unique_ptr<Search> SearchLanes::begin(const SearchGraph &graph, const asr_search_options &options) {
  auto search = std::make_unique<Search>(graph, options, memory_for(options.lattice_beam > 0), &outgrown_);
  if (!graph.begun().has(options)) {
    finish();
    flights_[last_]->begin(search.get());
    graph.begun().note(options);
  }
  searches_.insert(search.get());
  return search;
}

void SearchLanes::end(std::unique_ptr<Search> search) {
  if (search == nullptr) return;
  for (auto &flight : flights_) {
    if (flight->is_pending(search.get())) flight->finish();
  }
  searches_.erase(search.get());
  try {
    ChannelMemory memory = search->release_memory();
    free_memory_[memory.size().max_links > 0 ? 1 : 0].push_back(std::move(memory));
  } catch (...) {  // then it is freed
  }
}

void SearchLanes::start(Acoustic *acoustic, const std::vector<Task> &tasks) {
  SearchFlight *const other = flights_[last_].get();
  last_ ^= 1;
  flights_[last_]->start(acoustic, tasks, other);
}

void SearchLanes::finish_advances(uint32_t n_left) noexcept {
  if (n_left < 2) flights_[last_ ^ 1]->finish();
  if (n_left > 0) return;
  flights_[last_]->finish();
  outgrown_.clear();
}

void SearchLanes::wait() {
  finish();
  for (const uint32_t flight : {last_ ^ 1, last_}) flights_[flight]->wait();
}

void SearchLanes::release(const Acoustic *acoustic, uint32_t buffer) {
  for (auto &flight : flights_) flight->release(acoustic, buffer);
}

void SearchLanes::best_paths(const std::vector<Search *> &searches, bool use_final, asr_path *paths) {
  std::vector<Search *> others;
  std::vector<size_t> places;
  for (size_t i = 0; i < searches.size(); ++i) {
    if (searches[i]->give_wanted_path(use_final, &paths[i])) continue;
    others.push_back(searches[i]);
    places.push_back(i);
  }
  if (others.empty()) return;
  finish();
  std::vector<asr_path> found(others.size());
  flights_[0]->best_paths(others, use_final, found.data());
  for (size_t i = 0; i < places.size(); ++i) paths[places[i]] = found[i];
}

void SearchLanes::lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices) {
  for (const Search *search : searches) search->check_lattices();  // on any thread, where finish() is not to be called
  const auto wants = [&](const Search *search) { return search->has_wanted_lattice(use_final); };
  if (!std::all_of(searches.begin(), searches.end(), wants)) finish();
  flights_[0]->lattices(searches, use_final, lattices);
}

void SearchLanes::add_memory(asr_backend_memory *memory) const {
  for (const auto &flight : flights_) flight->add_memory(memory);
  for (const Search *search : searches_) memory->channel_bytes += search->memory().n_bytes();
  memory->n_channels = static_cast<uint32_t>(searches_.size());
  for (const auto &free : free_memory_) {
    for (const ChannelMemory &channel : free) memory->channel_bytes += channel.n_bytes();
    memory->n_channels += static_cast<uint32_t>(free.size());
  }
  for (const ChannelMemory &channel : outgrown_) memory->channel_bytes += channel.n_bytes();
}

}  // namespace asr::cuda
