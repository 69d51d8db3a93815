// SPDX-License-Identifier: Apache-2.0
// Channels that a device advances together, for back ends that search there: what was started and has yet to be finished, what
// of it failed, and the order of the steps. The SearchLanes of such a back end is derived from it and does the steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/thread_pool.h"

namespace asr {

// Lane is a channel's part of a launch: its `search` and what the back end needs besides.
template <typename Lane, typename Acoustic>
class DeviceLanes {
 public:
  using Search = std::remove_pointer_t<decltype(Lane::search)>;

  explicit DeviceLanes(ThreadPool &pool) : thread_pool_(pool) {}
  virtual ~DeviceLanes() = default;
  DeviceLanes(const DeviceLanes &) = delete;
  DeviceLanes &operator=(const DeviceLanes &) = delete;

  // Frames of a channel, from rows of the host (if not NULL) or of a score buffer, and what is wanted of it then.
  struct Task {
    Search *search;
    const float *host_rows;
    uint32_t buffer, first_row, n_frames;
    uint32_t wants;  // asr_advance_wants
  };

  // Until all that was started is done. What failed is kept for wait(), and with its channel.
  void finish() noexcept {
    try {
      if (pending_.lanes.empty()) return;
      await();
      while (!pending_.lanes.empty()) take_results();
    } catch (...) {
      give_up(pending_.lanes);
    }
    pending_ = {};
  }

  // Also throws what failed.
  void wait() {
    finish();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  // For failures that the channels tell.
  void forget_failure() noexcept { failure_ = nullptr; }

  // Before a score buffer is written or freed.
  void release(const Acoustic *acoustic, uint32_t buffer) {
    if (pending_.acoustic == acoustic && buffer < 2 && pending_.reads[buffer]) finish();
  }

  // Of many channels in one launch; threads of the pool make the arrays.
  void best_paths(const std::vector<Search *> &searches, uint32_t wants, asr_path *paths) {
    if (searches.empty()) return;
    finish();
    begin_all(searches);
    find_paths(searches, wants, kMaxPathSteps);
    std::vector<size_t> longer;
    for (size_t i = 0; i < searches.size(); ++i) {
      if (!is_path_whole(i)) longer.push_back(i);
    }
    thread_pool_.run(searches.size(), [&](size_t i) {
      if (is_path_whole(i)) give_path(i, searches[i], &paths[i]);
    });
    for (const size_t i : longer) {
      find_paths({searches[i]}, wants, UINT32_MAX);
      give_path(0, searches[i], &paths[i]);
    }
  }

  void lattice_piece(Search *search, asr_raw_lattice *piece) {
    finish();
    search->lattice_piece(piece);
  }

 protected:
  struct Pending {
    std::vector<Lane> lanes;
    const Acoustic *acoustic = nullptr;
    bool reads[2] = {false, false};  // score buffers
  };

  bool is_pending(const Search *search) const {
    return std::any_of(pending_.lanes.begin(), pending_.lanes.end(), [&](const Lane &lane) { return lane.search == search; });
  }

  // The back end's steps: launches what is pending; waits for the launch; takes what the channels did, of which those that ran
  // out of memory get more, go on, and are then what is pending.
  virtual void start_jobs() = 0;
  virtual void await() = 0;
  virtual void take_results() = 0;
  // The lane of a channel that has only to begin.
  virtual Lane lane_of_begin(Search *search) = 0;
  // Finds paths, with room for so many steps of each, on the host on return; whether that was enough for path i; and path i.
  virtual void find_paths(const std::vector<Search *> &searches, uint32_t wants, uint32_t max_steps) = 0;
  virtual bool is_path_whole(size_t i) = 0;
  virtual void give_path(size_t i, Search *search, asr_path *path) = 0;

  // Launches what is to be pending, if anything; a failure is that of all of its channels.
  void start_pending(Pending pending) {
    pending_ = std::move(pending);
    if (pending_.lanes.empty()) return;
    try {
      start_jobs();
    } catch (...) {
      give_up(pending_.lanes);
      pending_ = {};
      throw;
    }
  }

  // Lanes that consume nothing, done on return. What failed before is still kept for wait().
  void run_at_once(std::vector<Lane> lanes) {
    finish();
    const std::exception_ptr before = std::exchange(failure_, nullptr);
    pending_.lanes = std::move(lanes);
    try {
      start_jobs();
    } catch (...) {
      keep_failure();
      pending_ = {};
    }
    finish();
    const std::exception_ptr failure = std::exchange(failure_, before);
    if (failure) std::rethrow_exception(failure);
  }

  // Channels of which nothing was wanted yet.
  void begin_all(const std::vector<Search *> &searches) {
    std::vector<Lane> lanes;
    for (Search *search : searches) {
      if (!search->has_begun()) lanes.push_back(lane_of_begin(search));
    }
    if (!lanes.empty()) run_at_once(std::move(lanes));
  }

  // For the exception that is being handled.
  void give_up(const std::vector<Lane> &lanes) noexcept {
    for (const Lane &lane : lanes) lane.search->give_up(std::current_exception());
    keep_failure();
  }
  void give_up(Search *search) noexcept {
    search->give_up(std::current_exception());
    keep_failure();
  }
  void keep_failure() noexcept {
    if (!failure_) failure_ = std::current_exception();
  }

  Pending pending_;

 private:
  static constexpr uint32_t kMaxPathSteps = 2048;  // not yet settled; longer paths are found once more

  ThreadPool &thread_pool_;
  std::exception_ptr failure_;
};

}  // namespace asr
