// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search/search_lanes.h"

#include <algorithm>
#include <new>
#include <utility>

#include "core/base/error.h"

namespace asr::gpu {
namespace {

// Returns true if a new channel would have to grow where it usually need not.
bool is_smaller(const ChannelSize &size, const ChannelSize &usual) {
  return size.max_tokens < usual.max_tokens || size.max_records < usual.max_records;
}

}  // namespace

SearchLanes::SearchLanes(Device &device)
    : device_(device),
      capacities_(CapacityFacts{device.initial_capacity_shift(), search_shared_slots(device.shared_bytes()),
                                search_shared_row(device.shared_bytes()), device.max_lanes(), device.n_multiprocessors(),
                                device.memory_bytes(), device.free_bytes()}) {
  check(prepare_search(capacities_.n_shared_slots, capacities_.n_shared_row), "preparing the search kernel");
  const uint32_t wanted = device.cluster_blocks(), largest = wanted == 0 ? kMaxClusterSize : std::min(wanted, kMaxClusterSize);
  for (uint32_t size = largest, most = 0; size > 1 && size >= (wanted == 0 ? kMinClusterSize : largest); --size) {
    uint32_t n_clusters = 0;
    check(prepare_search_clusters(size, &n_clusters), "preparing the search kernel");
    if (n_clusters > most) cluster_sizes_.push_back({size, most = n_clusters});
  }
  for (auto &flight : flights_) flight = std::make_unique<SearchFlight>(*this, device, capacities_, cluster_sizes_);
  device.account().set_make_room([this] { return make_room_for_others(); });
}

SearchLanes::~SearchLanes() { device_.account().set_make_room(nullptr); }

// Returns a channel with the memory of one that has ended, or with new memory. Where that is short the channel begins with half
// of it, a quarter and so on, or parked, which is without any.
std::unique_ptr<Search> SearchLanes::new_channel(const SearchGraph &graph, const asr_search_options &options) {
  const auto with = [&](ChannelMemory memory, const ChannelSize &size) {
    return std::make_unique<Search>(graph, options, std::move(memory), size, &idle_);
  };
  const bool makes_lattice = options.lattice_beam > 0;
  std::vector<ChannelMemory> &free = idle_.free[makes_lattice ? 1 : 0];
  if (!free.empty()) {
    ChannelMemory memory = std::move(free.back());
    free.pop_back();
    const ChannelSize size = memory.size();
    return with(std::move(memory), size);
  }
  const MemoryAccount::Modest modest(device_.account());
  for (ChannelSize size = capacities_.channel_size(makes_lattice);;) {
    try {
      return with(ChannelMemory(size), size);
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY) throw;
    }
    if (idle_.release()) continue;
    if (!halve(&size)) return with(ChannelMemory(), size);
  }
}

std::unique_ptr<Search> SearchLanes::begin(const SearchGraph &graph, const asr_search_options &options) {
  std::unique_ptr<Search> search = new_channel(graph, options);
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
  keep(search->release_kept());
  if (search->is_parked() || is_smaller(search->memory().size(), capacities_.channel_size(false))) return;
  try {
    ChannelMemory memory = search->release_memory();
    idle_.free[memory.size().max_links > 0 ? 1 : 0].push_back(std::move(memory));
  } catch (...) {  // then it is freed
  }
}

void SearchLanes::keep(KeptRows rows) {
  if (rows.n_bytes() == 0) return;
  try {
    idle_.kept.push_back(std::move(rows));
  } catch (const std::bad_alloc &) {  // then it is freed
  }
}

bool SearchLanes::make_room() {
  if (idle_.release()) return true;
  for (auto &flight : flights_) {
    if (flight->release_scratch()) return true;
  }
  return park_one();
}

bool SearchLanes::make_room_for_others() {
  if (make_room()) return true;
  const auto is_working = [](const auto &flight) { return flight->is_working(); };
  const auto has_jobs = [](const auto &flight) { return flight->has_jobs(); };
  if (std::any_of(flights_, flights_ + 2, is_working) || std::none_of(flights_, flights_ + 2, has_jobs)) return false;
  finish();
  return true;
}

// Parks a channel that is not held, if there is one that can be: the host needs memory for what its buffers have.
bool SearchLanes::park_one() {
  for (Search *search : searches_) {
    if (search->is_held() || search->is_parked()) continue;
    try {
      was_short_ = true;
      search->park(0, true, device_.copies().get());
      return true;
    } catch (const std::bad_alloc &) {
      return false;
    }
  }
  return false;
}

void SearchLanes::run_down_other(const SearchFlight *flight) noexcept {
  for (auto &other : flights_) {
    if (other.get() != flight) other->run_down();
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
  idle_.outgrown.clear();
}

void SearchLanes::release(const Acoustic *acoustic, uint32_t buffer) {
  for (auto &flight : flights_) flight->release(acoustic, buffer);
}

void SearchLanes::best_paths(const std::vector<Search *> &searches, uint32_t wants, asr_path *paths) {
  std::vector<Search *> others;
  std::vector<size_t> indices;
  for (size_t i = 0; i < searches.size(); ++i) {
    if (searches[i]->give_wanted_path(wants, &paths[i])) continue;
    others.push_back(searches[i]);
    indices.push_back(i);
  }
  if (others.empty()) return;
  finish();
  std::vector<asr_path> found(others.size());
  flights_[0]->best_paths(others, wants, found.data());
  for (size_t i = 0; i < indices.size(); ++i) paths[indices[i]] = found[i];
}

void SearchLanes::lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices) {
  for (const Search *search : searches) search->check_lattices();  // on any thread, where finish() is not to be called
  const auto wants = [&](const Search *search) { return search->has_wanted_lattice(use_final); };
  if (!std::all_of(searches.begin(), searches.end(), wants)) finish();
  flights_[0]->lattices(searches, use_final, lattices);
}

void SearchLanes::add_memory(asr_backend_memory *memory) const {
  for (const auto &flight : flights_) flight->add_memory(memory);
  for (Search *search : searches_) memory->channel_bytes += search->memory().n_bytes() + search->n_kept_bytes();
  memory->channel_bytes += idle_.n_bytes();
  memory->n_channels = static_cast<uint32_t>(searches_.size() + idle_.free[0].size() + idle_.free[1].size());
}

}  // namespace asr::gpu
