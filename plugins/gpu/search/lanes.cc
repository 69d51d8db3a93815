// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/search/lanes.h"

#include <algorithm>

#include "core/base/error.h"
#include "search/search_flight.h"

namespace asr::gpu {

SearchFlight &DeviceLanes::flight() { return static_cast<SearchFlight &>(*this); }

template <typename Action>
void DeviceLanes::with_room(const Action &action) {
  for (;;) {
    std::exception_ptr failure;
    try {
      return action();
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY) throw;
      failure = std::current_exception();
    }
    if (!flight().make_room()) std::rethrow_exception(failure);
  }
}

bool DeviceLanes::take_result(const SearchLane &lane, const SearchJob &done) {
  if (!lane.is_rest) lane.search->forget_results();
  return lane.search->take(done);
}

void DeviceLanes::finish() noexcept {
  const Working working(this);
  run_down();
  if (!waiting_.empty()) {
    flight().run_down_others();
    is_alone_ = true;
  }
  while (!waiting_.empty()) {
    const SearchLane lane = waiting_.front();
    waiting_.erase(waiting_.begin());
    flight().shrink_scratch();
    try {
      launch({lane}, lane.is_rest);
    } catch (...) {
      give_up(lane.search);
    }
    run_down();
  }
  if (is_alone_) flight().shrink_scratch();
  is_alone_ = false;
  pending_ = {};
}

void DeviceLanes::run_down() noexcept {
  const Working working(this);
  try {
    if (pending_.lanes.empty()) return;
    flight().await();
    while (!pending_.lanes.empty()) take_results();
  } catch (...) {
    give_up(pending_.lanes);
    pending_.lanes.clear();
  }
}

void DeviceLanes::best_paths(const std::vector<Search *> &searches, uint32_t wants, asr_path *paths) {
  if (searches.empty()) return;
  finish();
  begin_all(searches);
  const Working working(this);
  const Held held(searches);
  if (!bring_back_all(searches)) {
    for (size_t i = 0; i < searches.size(); ++i) best_path(searches[i], wants, &paths[i]);
    return;
  }
  flight().find_paths(searches, wants, kMaxPathSteps);
  std::vector<size_t> longer;
  for (size_t i = 0; i < searches.size(); ++i) {
    if (!flight().is_path_whole(i)) longer.push_back(i);
  }
  thread_pool_.run(searches.size(), [&](size_t i) {
    if (flight().is_path_whole(i)) flight().give_path(i, searches[i], &paths[i]);
  });
  for (const size_t i : longer) {
    flight().find_paths({searches[i]}, wants, UINT32_MAX);
    flight().give_path(0, searches[i], &paths[i]);
  }
}

void DeviceLanes::lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices) {
  std::vector<SearchLane> lanes;
  for (Search *search : searches) {
    if (search->has_wanted_lattice(use_final)) continue;
    finish();
    lanes.push_back(flight().lane_of(search, search->lattice_job(use_final)));
  }
  if (!lanes.empty()) {
    run_at_once(lanes);
  }
  thread_pool_.run(searches.size(), [&](size_t i) { searches[i]->lattice(&lattices[i]); });
}

void DeviceLanes::lattice_piece(Search *search, asr_raw_lattice *piece) {
  finish();
  search->lattice_piece(piece);
}

bool DeviceLanes::is_pending(const Search *search) const {
  bool is = false;
  for_each_pending([&](const Search *other) { is = is || other == search; });
  return is;
}

void DeviceLanes::start_pending(Pending pending) {
  const Working working(this);
  const std::vector<SearchLane> lanes = std::move(pending.lanes);
  pending_ = std::move(pending);
  pending_.lanes.clear();
  try {
    launch(lanes, false);
  } catch (...) {
    give_up(lanes);
    pending_ = {};
    throw;
  }
}

void DeviceLanes::run_at_once(const std::vector<SearchLane> &lanes) {
  finish();
  const Working working(this);
  launch(lanes, false);
  finish();
  for (const SearchLane &lane : lanes) lane.search->check_outcome();
}

void DeviceLanes::begin_all(const std::vector<Search *> &searches) {
  std::vector<SearchLane> lanes;
  for (Search *search : searches) {
    if (!search->has_begun()) lanes.push_back(flight().lane_of(search, search->begin_job()));
  }
  if (!lanes.empty()) run_at_once(lanes);
}

void DeviceLanes::take_results() {
  std::vector<bool> goes_on(pending_.lanes.size(), false);
  for (size_t i = 0; i < goes_on.size(); ++i) {
    try {
      goes_on[i] = flight().take_result(pending_.lanes[i], flight().done_job(i));
    } catch (...) {
      give_up(pending_.lanes[i].search);
    }
  }
  flight().finish_keeping();
  read_lattices();
  for (size_t i = 0; i < goes_on.size(); ++i) {
    if (!goes_on[i]) pending_.lanes[i].search->set_held(false);
  }
  std::vector<SearchLane> rest;
  uint32_t overflow = 0;
  for (size_t i = 0; i < goes_on.size(); ++i) {
    if (!goes_on[i]) continue;
    const SearchJob done = flight().done_job(i);
    SearchLane lane = pending_.lanes[i];
    try {
      grow_or_park(lane, done.overflow);
    } catch (...) {
      give_up(lane.search);
      continue;
    }
    overflow |= done.overflow;
    lane.job = lane.search->rest_of(done);
    lane.is_rest = true;
    (lane.search->is_held() ? rest : waiting_).push_back(lane);
  }
  pending_.lanes.clear();
  flight().grow_scratch(overflow);
  try {
    launch(rest, true);
  } catch (...) {
    give_up(rest);
  }
  if (!pending_.lanes.empty()) flight().await();
}

void DeviceLanes::read_lattices() {
  struct Reading {
    Search *search;
    LatticeReader reader;
    bool is_settled;
  };
  std::vector<Reading> readings;
  for (size_t i = 0; i < pending_.lanes.size(); ++i) {
    Search *const search = pending_.lanes[i].search;
    if (auto reader = search->settled()) readings.push_back({search, *reader, true});
    if (flight().done_job(i).has_written) readings.push_back({search, search->written(), false});
  }
  if (readings.empty()) return;
  size_t n_bytes = 0;
  for (Reading &reading : readings) n_bytes += reading.reader.n_bytes<PinnedArena>();
  lattices_.begin(n_bytes);
  try {
    for (Reading &reading : readings) {
      reading.reader.start(&lattices_, [&](uint64_t address, void *to, size_t n) { flight().read(address, to, n); });
    }
  } catch (...) {
    try {
      flight().finish_reads();
    } catch (...) {  // the first failure counts
    }
    throw;
  }
  flight().finish_reads();
  std::vector<std::exception_ptr> failures(readings.size());
  thread_pool_.run(readings.size(), [&](size_t i) {
    const Reading &reading = readings[i];
    try {
      reading.is_settled ? reading.search->take_settled(reading.reader) : reading.search->take_written(reading.reader);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (size_t i = 0; i < readings.size(); ++i) {
    if (failures[i]) readings[i].search->give_up(failures[i]);
  }
}

void DeviceLanes::give_up(const std::vector<SearchLane> &lanes) noexcept {
  for (const SearchLane &lane : lanes) give_up(lane.search);
}

void DeviceLanes::give_up(Search *search) noexcept {
  search->set_held(false);
  search->give_up(std::current_exception());
}

bool DeviceLanes::hold(Search *search) {
  search->set_held(true);
  try {
    with_room([&] { flight().bring_back(search); });
    return true;
  } catch (const Error &error) {
    search->set_held(false);
    if (error.code() != ASR_OUT_OF_MEMORY) throw;
    return false;
  }
}

bool DeviceLanes::bring_back_all(const std::vector<Search *> &searches) {
  if (std::all_of(searches.begin(), searches.end(), [&](Search *search) { return hold(search); })) return true;
  for (Search *search : searches) search->set_held(false);
  return false;
}

void DeviceLanes::grow_or_park(const SearchLane &lane, uint32_t overflow) {
  try {
    with_room([&] { flight().grow(lane.search, overflow); });
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY) throw;
    flight().park(lane.search, overflow, !lane.is_rest);
    lane.search->set_held(false);
  }
}

void DeviceLanes::launch(const std::vector<SearchLane> &lanes, bool is_rest) {
  const auto n_waiting = static_cast<ptrdiff_t>(waiting_.size());
  try {
    launch_or_wait(lanes, is_rest);
  } catch (...) {
    for (const SearchLane &lane : lanes) lane.search->set_held(false);
    pending_.lanes.clear();
    waiting_.erase(waiting_.begin() + n_waiting, waiting_.end());
    throw;
  }
}

void DeviceLanes::launch_or_wait(const std::vector<SearchLane> &lanes, bool is_rest) {
  pending_.lanes.clear();
  for (const SearchLane &lane : lanes) lane.search->set_held(!lane.search->is_parked());  // none of these gives way to another
  for (const SearchLane &lane : lanes) {
    if (hold(lane.search)) {
      pending_.lanes.push_back(lane);
      lane.search->renew(&pending_.lanes.back().job);
    } else if (!is_alone_) {
      waiting_.push_back(lane);
    } else {
      flight().bring_back(lane.search);  // throws
    }
  }
  if (pending_.lanes.empty()) return;
  try {
    flight().reserve_jobs(is_rest);
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY) throw;
    if (is_alone_) {
      reserve_from_nothing(is_rest);
      flight().launch_jobs(is_rest);
      return;
    }
    for (const SearchLane &lane : pending_.lanes) lane.search->set_held(false);
    waiting_.insert(waiting_.end(), pending_.lanes.begin(), pending_.lanes.end());
    pending_.lanes.clear();
    return;
  }
  flight().launch_jobs(is_rest);
}

void DeviceLanes::reserve_from_nothing(bool is_rest) {
  SearchLane &lane = pending_.lanes.front();
  flight().park(lane.search, 0, false);
  lane.search->set_held(false);
  while (flight().make_room()) {
  }
  flight().reserve_jobs(is_rest);
  lane.search->set_held(true);
  with_room([&] { flight().bring_back(lane.search); });
  lane.search->renew(&lane.job);
  flight().reserve_jobs(
      is_rest);  // again, for the job has moved, and its channel may have needed the place of the scratch memory
}

void DeviceLanes::best_path(Search *search, uint32_t wants, asr_path *path) {
  const Held held({search});
  search->set_held(true);
  with_room([&] { flight().bring_back(search); });
  flight().find_paths({search}, wants, UINT32_MAX);
  flight().give_path(0, search, path);
}

}  // namespace asr::gpu
