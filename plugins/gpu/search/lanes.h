// SPDX-License-Identifier: Apache-2.0
// DeviceLanes advances many channels of a device together, for back ends that search there. It keeps the work under way, its
// failures, and the order of the steps. A back end derives a class from it that does the steps.
//
// Memory. A job needs its channel's buffers on the device, and scratch memory for the launch. If these cannot be had, not even
// after make_room() has freed what no running work needs, the job waits until the others of its advance are done. Then the
// jobs that wait run one after the other, while all other channels can be parked. So a channel fails for lack of memory only
// if the device has none for it alone. Nothing else differs: a job's results do not depend on the sizes of buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "plugins/gpu/runtime/pinned_arena.h"
#include "plugins/gpu/search/search_lattice.h"

namespace asr {

// Lane is a channel's part of a launch. It has its `search`, its `job`, `is_rest` if a part of the job was done before,
// and the back end's own members. The Search is derived from SearchChannel. Runtime names the back end's classes.
template <typename Lane, typename Acoustic, typename Runtime>
class DeviceLanes {
 public:
  using Search = std::remove_pointer_t<decltype(Lane::search)>;
  using Job = decltype(Lane::job);

  // `context`: arguments of the Runtime's arrays.
  template <typename... Context>
  explicit DeviceLanes(ThreadPool &pool, const Context &...context) : thread_pool_(pool), lattices_(context...) {}
  virtual ~DeviceLanes() = default;
  DeviceLanes(const DeviceLanes &) = delete;
  DeviceLanes &operator=(const DeviceLanes &) = delete;

  // Frames of a channel, from rows of the host (if not NULL) or of a score buffer, and the results that are wanted then.
  struct Task {
    Search *search;
    const float *host_rows;
    uint32_t buffer, first_row, n_frames;
    uint32_t wants;  // asr_advance_wants
  };

  // Waits until all work is done. A failure is kept for wait(), and with its channel.
  void finish() noexcept {
    const Working working(this);
    run_down();
    if (!waiting_.empty()) {
      run_down_others();
      is_alone_ = true;
    }
    while (!waiting_.empty()) {
      const Lane lane = waiting_.front();
      waiting_.erase(waiting_.begin());
      shrink_scratch();
      try {
        launch({lane}, lane.is_rest);
      } catch (...) {
        give_up(lane.search);
      }
      run_down();
    }
    if (is_alone_) shrink_scratch();
    is_alone_ = false;
    pending_ = {};
  }
  // Waits until all work is done, but for jobs that wait for memory.
  void run_down() noexcept {
    const Working working(this);
    try {
      if (pending_.lanes.empty()) return;
      await();
      while (!pending_.lanes.empty()) take_results();
    } catch (...) {
      give_up(pending_.lanes);
      pending_.lanes.clear();
    }
  }
  // Returns true while jobs are under way, or wait for memory.
  bool has_jobs() const { return !pending_.lanes.empty() || !waiting_.empty(); }
  // Returns true within functions that start or finish jobs, where no other may be called.
  bool is_working() const { return n_working_ > 0; }

  // Finishes, and throws the first failure.
  void wait() {
    finish();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  // Forgets a failure that its channels report.
  void forget_failure() noexcept { failure_ = nullptr; }

  // Finishes work that reads a score buffer, before the buffer is written or freed.
  void release(const Acoustic *acoustic, uint32_t buffer) {
    if (pending_.acoustic == acoustic && buffer < 2 && pending_.reads[buffer]) finish();
  }

  // Finds the paths of many channels by one launch; threads of the pool make the arrays.
  void best_paths(const std::vector<Search *> &searches, uint32_t wants, asr_path *paths) {
    if (searches.empty()) return;
    finish();
    begin_all(searches);
    const Working working(this);
    const Held held(searches);
    if (!bring_back_all(searches)) {
      for (size_t i = 0; i < searches.size(); ++i) best_path(searches[i], wants, &paths[i]);
      return;
    }
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

  // Fills the lattices of many channels. One launch writes the lattices that no advance wanted.
  void lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices) {
    std::vector<Lane> lanes;
    for (Search *search : searches) {
      if (search->has_wanted_lattice(use_final)) continue;
      finish();
      lanes.push_back(lane_of(search, search->lattice_job(use_final)));
    }
    if (!lanes.empty()) {
      run_at_once(lanes);
      for (const Lane &lane : lanes) lane.search->check_outcome();
    }
    thread_pool_.run(searches.size(), [&](size_t i) { searches[i]->lattice(&lattices[i]); });
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

  // Calls action(search) for the channels whose jobs are under way, or wait for memory.
  template <typename Action>
  void for_each_pending(const Action &action) const {
    for (const std::vector<Lane> *lanes : {&pending_.lanes, &waiting_}) {
      for (const Lane &lane : *lanes) action(lane.search);
    }
  }
  bool is_pending(const Search *search) const {
    bool is = false;
    for_each_pending([&](const Search *other) { is = is || other == search; });
    return is;
  }

  // The back end reserves memory for a launch of the pending jobs, launches them, waits for the launch and returns job i as it
  // ended. With is_rest, it launches the unfinished rest of jobs, which precedes other work.
  virtual void reserve_jobs(bool is_rest) = 0;
  virtual void launch_jobs(bool is_rest) = 0;
  virtual void await() = 0;
  virtual const Job &done_job(size_t i) = 0;
  virtual Lane lane_of(Search *search, const Job &job) = 0;
  // Takes the results of a job. Returns true if the job is not done.
  virtual bool take_result(const Lane &lane, const Job &done) {
    if (!lane.is_rest) lane.search->forget_results();
    return lane.search->take(done);
  }
  // Enlarges a channel's buffers, or the launches' scratch memory, after overflows.
  virtual void grow(Search *search, uint32_t overflow) = 0;
  virtual void grow_scratch(uint32_t overflow) = 0;
  // Takes back what grow_scratch() added, so that a channel with large frames takes no memory from those after it.
  virtual void shrink_scratch() noexcept = 0;
  // Frees some device memory that no running work needs, such as idle caches and the buffers of a channel that is not held.
  // Returns false if there is none.
  virtual bool make_room() = 0;
  // Runs down the other lanes of the device, if any, so that their channels can be parked.
  virtual void run_down_others() noexcept = 0;
  // Parks a channel as parked_size() says, and brings a parked one back.
  virtual void park(Search *search, uint32_t overflow, bool may_shrink) = 0;
  virtual void bring_back(Search *search) = 0;
  // Copies from a channel's buffers to pinned memory; read() only starts that.
  virtual void read(uint64_t address, void *to, size_t n_bytes) = 0;
  virtual void finish_reads() = 0;
  // Finds up to max_steps steps of each path, on the host on return. is_path_whole() says if path i is whole; give_path() fills
  // it.
  virtual void find_paths(const std::vector<Search *> &searches, uint32_t wants, uint32_t max_steps) = 0;
  virtual bool is_path_whole(size_t i) = 0;
  virtual void give_path(size_t i, Search *search, asr_path *path) = 0;

  // Launches new pending lanes, if any. A failure is that of all their channels.
  void start_pending(Pending pending) {
    const Working working(this);
    const std::vector<Lane> lanes = std::move(pending.lanes);
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

  // Runs lanes that consume no frames to their end. An earlier failure is still kept for wait().
  void run_at_once(const std::vector<Lane> &lanes) {
    finish();
    const Working working(this);
    const std::exception_ptr before = std::exchange(failure_, nullptr);
    try {
      launch(lanes, false);
    } catch (...) {
      keep_failure();
    }
    finish();
    const std::exception_ptr failure = std::exchange(failure_, before);
    if (failure) std::rethrow_exception(failure);
  }

  // Begins the channels that have not begun.
  void begin_all(const std::vector<Search *> &searches) {
    std::vector<Lane> lanes;
    for (Search *search : searches) {
      if (!search->has_begun()) lanes.push_back(lane_of(search, search->begin_job()));
    }
    if (!lanes.empty()) run_at_once(lanes);
  }

  // Takes the results of all lanes, which stay pending until then, so that a failure on the way fails all. Lanes whose buffers
  // were too small get larger ones and go on; then they are pending.
  void take_results() {
    std::vector<bool> goes_on(pending_.lanes.size(), false);
    for (size_t i = 0; i < goes_on.size(); ++i) {
      try {
        goes_on[i] = take_result(pending_.lanes[i], done_job(i));
      } catch (...) {
        give_up(pending_.lanes[i].search);
      }
    }
    read_lattices();
    for (size_t i = 0; i < goes_on.size(); ++i) {
      if (!goes_on[i]) pending_.lanes[i].search->set_held(false);
    }
    std::vector<Lane> rest;
    uint32_t overflow = 0;
    for (size_t i = 0; i < goes_on.size(); ++i) {
      if (!goes_on[i]) continue;
      const Job done = done_job(i);
      Lane lane = pending_.lanes[i];
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
    grow_scratch(overflow);
    try {
      launch(rest, true);
    } catch (...) {
      give_up(rest);
    }
    if (!pending_.lanes.empty()) await();
  }

  // Calls start(tasks) after reserve(tasks). If there is no memory for the rows of all of them, does so for one half after the
  // other.
  template <typename Reserve, typename Start>
  static void start_in_parts(const std::vector<Task> &tasks, const Reserve &reserve, const Start &start) {
    bool fits = true;
    try {
      reserve(tasks);
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY || tasks.size() < 2) throw;
      fits = false;
    }
    if (fits) return start(tasks);
    const auto middle = tasks.begin() + static_cast<ptrdiff_t>(tasks.size() / 2);
    start_in_parts(std::vector<Task>(tasks.begin(), middle), reserve, start);
    start_in_parts(std::vector<Task>(middle, tasks.end()), reserve, start);
  }

  // Calls an action that needs memory again until it has it, or there is no more room to be made.
  template <typename Action>
  void with_room(const Action &action) {
    for (;;) {
      std::exception_ptr failure;
      try {
        return action();
      } catch (const Error &error) {
        if (error.code() != ASR_OUT_OF_MEMORY) throw;
        failure = std::current_exception();
      }
      if (!make_room()) std::rethrow_exception(failure);
    }
  }

  // Reads the settled frames of lattices, and written lattices, before the next jobs move them. Threads of the pool bring them
  // into the host's order.
  void read_lattices() {
    struct Reading {
      Search *search;
      LatticeReader reader;
      bool is_settled;
    };
    std::vector<Reading> readings;
    for (size_t i = 0; i < pending_.lanes.size(); ++i) {
      Search *const search = pending_.lanes[i].search;
      if (auto reader = search->settled()) readings.push_back({search, *reader, true});
      if (done_job(i).has_written) readings.push_back({search, search->written(), false});
    }
    if (readings.empty()) return;
    size_t n_bytes = 0;
    for (Reading &reading : readings) n_bytes += reading.reader.template n_bytes<PinnedArena<Runtime>>();
    lattices_.begin(n_bytes);
    try {
      for (Reading &reading : readings) {
        reading.reader.start(&lattices_, [&](uint64_t address, void *to, size_t n) { read(address, to, n); });
      }
    } catch (...) {
      try {
        finish_reads();
      } catch (...) {  // the first failure counts
      }
      throw;
    }
    finish_reads();
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

  // Give up channels for the exception that is being handled.
  void give_up(const std::vector<Lane> &lanes) noexcept {
    for (const Lane &lane : lanes) give_up(lane.search);
    keep_failure();
  }
  void give_up(Search *search) noexcept {
    search->set_held(false);
    search->give_up(std::current_exception());
    keep_failure();
  }
  void keep_failure() noexcept {
    if (!failure_) failure_ = std::current_exception();
  }

  Pending pending_;

 private:
  static constexpr uint32_t kMaxPathSteps = 2048;  // not yet settled; longer paths are found once more

  struct Working {
    explicit Working(DeviceLanes *lanes) : lanes(lanes) { ++lanes->n_working_; }
    ~Working() { --lanes->n_working_; }
    Working(const Working &) = delete;
    Working &operator=(const Working &) = delete;
    DeviceLanes *const lanes;
  };
  // Lets go of channels at the end.
  struct Held {
    explicit Held(std::vector<Search *> searches) : searches(std::move(searches)) {}
    ~Held() {
      for (Search *search : searches) search->set_held(false);
    }
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;
    const std::vector<Search *> searches;
  };

  // Holds a channel, and brings its memory back. Without memory for it the channel is let go. Returns false then.
  bool hold(Search *search) {
    search->set_held(true);
    try {
      with_room([&] { bring_back(search); });
      return true;
    } catch (const Error &error) {
      search->set_held(false);
      if (error.code() != ASR_OUT_OF_MEMORY) throw;
      return false;
    }
  }
  bool bring_back_all(const std::vector<Search *> &searches) {
    if (std::all_of(searches.begin(), searches.end(), [&](Search *search) { return hold(search); })) return true;
    for (Search *search : searches) search->set_held(false);
    return false;
  }

  // Enlarges the buffers of a channel that overflowed. Without memory for it the channel is parked, and let go.
  void grow_or_park(const Lane &lane, uint32_t overflow) {
    try {
      with_room([&] { grow(lane.search, overflow); });
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY) throw;
      park(lane.search, overflow, !lane.is_rest);
      lane.search->set_held(false);
    }
  }

  // Makes lanes pending and launches them. Those that find no memory wait; a lane that runs alone fails. After an exception no
  // lane is pending or waits.
  void launch(const std::vector<Lane> &lanes, bool is_rest) {
    const auto n_waiting = static_cast<ptrdiff_t>(waiting_.size());
    try {
      launch_or_wait(lanes, is_rest);
    } catch (...) {
      for (const Lane &lane : lanes) lane.search->set_held(false);
      pending_.lanes.clear();
      waiting_.erase(waiting_.begin() + n_waiting, waiting_.end());
      throw;
    }
  }
  void launch_or_wait(const std::vector<Lane> &lanes, bool is_rest) {
    pending_.lanes.clear();
    for (const Lane &lane : lanes) lane.search->set_held(!lane.search->is_parked());  // none of these gives way to another
    for (const Lane &lane : lanes) {
      if (hold(lane.search)) {
        pending_.lanes.push_back(lane);
        lane.search->renew(&pending_.lanes.back().job);
      } else if (!is_alone_) {
        waiting_.push_back(lane);
      } else {
        bring_back(lane.search);  // throws
      }
    }
    if (pending_.lanes.empty()) return;
    try {
      reserve_jobs(is_rest);
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY) throw;
      if (is_alone_) {
        reserve_from_nothing(is_rest);
        launch_jobs(is_rest);
        return;
      }
      for (const Lane &lane : pending_.lanes) lane.search->set_held(false);
      waiting_.insert(waiting_.end(), pending_.lanes.begin(), pending_.lanes.end());
      pending_.lanes.clear();
      return;
    }
    launch_jobs(is_rest);
  }

  // Reserves memory for the one pending job on a device that is emptied for it: its channel may be in an array that has the
  // size of all channels together. Scratch memory comes first, since such an array takes what is left.
  void reserve_from_nothing(bool is_rest) {
    Lane &lane = pending_.lanes.front();
    park(lane.search, 0, false);
    lane.search->set_held(false);
    while (make_room()) {
    }
    reserve_jobs(is_rest);
    lane.search->set_held(true);
    with_room([&] { bring_back(lane.search); });
    lane.search->renew(&lane.job);
    reserve_jobs(is_rest);  // again, for the job has moved, and its channel may have needed the place of the scratch memory
  }

  // Fills the path of a channel alone.
  void best_path(Search *search, uint32_t wants, asr_path *path) {
    const Held held({search});
    search->set_held(true);
    with_room([&] { bring_back(search); });
    find_paths({search}, wants, UINT32_MAX);
    give_path(0, search, path);
  }

  ThreadPool &thread_pool_;
  PinnedArena<Runtime> lattices_;  // on their way to the host
  std::exception_ptr failure_;
  std::vector<Lane> waiting_;  // lanes of this advance that found no memory
  bool is_alone_ = false;      // they run one after the other
  uint32_t n_working_ = 0;
};

}  // namespace asr
