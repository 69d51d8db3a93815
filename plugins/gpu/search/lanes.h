// SPDX-License-Identifier: Apache-2.0
// DeviceLanes advances many channels of a device together. It keeps the work under way, its failures, and the order of the
// steps. Each runtime has one class SearchFlight derived from it, which does the steps (search_flight.h in plugins/cuda/search
// and plugins/ocl/search). Compiled once for each plugin.
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
#include <utility>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "plugins/gpu/runtime/pinned_arena.h"
#include "plugins/gpu/scores/acoustic.h"
#include "runtime/device.h"
#include "search/search.h"

namespace asr::gpu {

class SearchFlight;

class DeviceLanes {
 public:
  explicit DeviceLanes(Device &device) : thread_pool_(device.pool()), lattices_(device.context()) {}
  DeviceLanes(const DeviceLanes &) = delete;
  DeviceLanes &operator=(const DeviceLanes &) = delete;

  // Frames of a channel, from rows of the host (if not NULL) or of a score buffer, and the results that are wanted then.
  struct Task {
    Search *search;
    const float *host_rows;
    uint32_t buffer, first_row, n_frames;
    uint32_t wants;  // asr_search_wants
    bool has_frames() const { return !search->died() && n_frames + search->n_left() > 0; }
  };

  // Waits until all work is done. A failure is the outcome of its channels.
  void finish() noexcept;
  // Waits until all work is done, but for jobs that wait for memory.
  void run_down() noexcept;
  // Returns true while jobs are under way, or wait for memory.
  bool has_jobs() const { return !pending_.lanes.empty() || !waiting_.empty(); }
  // Returns true within functions that start or finish jobs, where no other may be called.
  bool is_working() const { return n_working_ > 0; }

  // Finishes work that reads a score buffer, before the buffer is written or freed.
  void release(const Acoustic *acoustic, uint32_t buffer) {
    if (pending_.acoustic == acoustic && buffer < 2 && pending_.reads[buffer]) finish();
  }

  // Finds the paths of many channels by one launch; threads of the pool make the arrays.
  void best_paths(const std::vector<Search *> &searches, uint32_t wants, asr_path *paths);

  // Fills the lattices of many channels. One launch writes the lattices that no advance wanted.
  void lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices);

  void lattice_piece(Search *search, asr_raw_lattice *piece);

 protected:
  struct Pending {
    std::vector<SearchLane> lanes;
    const Acoustic *acoustic = nullptr;
    bool reads[2] = {false, false};  // score buffers
  };

  // Calls action(search) for the channels whose jobs are under way, or wait for memory.
  template <typename Action>
  void for_each_pending(const Action &action) const {
    for (const std::vector<SearchLane> *lanes : {&pending_.lanes, &waiting_}) {
      for (const SearchLane &lane : *lanes) action(lane.search);
    }
  }
  bool is_pending(const Search *search) const;

  // Launches new pending lanes, if any. A failure is that of all their channels.
  void start_pending(Pending pending);

  // Runs lanes that consume no frames to their end, and throws the first failure.
  void run_at_once(const std::vector<SearchLane> &lanes);

  // Begins the channels that have not begun.
  void begin_all(const std::vector<Search *> &searches);

  // Takes the results of all lanes, which stay pending until then, so that a failure on the way fails all. Lanes whose buffers
  // were too small get larger ones and go on; then they are pending.
  void take_results();

  // Takes the results of a job. Returns true if the job is not done.
  bool take_result(const SearchLane &lane, const SearchJob &done);

  // Calls an action that needs memory again until it has it, or there is no more room to be made.
  template <typename Action>
  void with_room(const Action &action);

  // Reads the settled frames of lattices, and written lattices, before the next jobs move them. Threads of the pool bring them
  // into the host's order.
  void read_lattices();

  // Give up channels for the exception that is being handled.
  void give_up(const std::vector<SearchLane> &lanes) noexcept;
  void give_up(Search *search) noexcept;

  Pending pending_;

 private:
  SearchFlight &flight();

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
  bool hold(Search *search);
  bool bring_back_all(const std::vector<Search *> &searches);

  // Enlarges the buffers of a channel that overflowed. Without memory for it the channel is parked, and let go.
  void grow_or_park(const SearchLane &lane, uint32_t overflow);

  // Makes lanes pending and launches them. Those that find no memory wait; a lane that runs alone fails. After an exception no
  // lane is pending or waits.
  void launch(const std::vector<SearchLane> &lanes, bool is_rest);
  void launch_or_wait(const std::vector<SearchLane> &lanes, bool is_rest);

  // Reserves memory for the one pending job on a device that is emptied for it: its channel may be in an array that has the
  // size of all channels together. Scratch memory comes first, since such an array takes what is left.
  void reserve_from_nothing(bool is_rest);

  // Fills the path of a channel alone.
  void best_path(Search *search, uint32_t wants, asr_path *path);

  ThreadPool &thread_pool_;
  PinnedArena lattices_;  // on their way to the host
  std::vector<SearchLane> waiting_;  // lanes of this advance that found no memory
  bool is_alone_ = false;            // they run one after the other
  uint32_t n_working_ = 0;
};

}  // namespace asr::gpu
