// SPDX-License-Identifier: Apache-2.0
// Scheduler is the engine's thread, the only one that calls the device. It advances streams step by step, up to max_lanes of
// them by a window each, and posts their events. Taking samples and making rows from cepstra is independent per stream, and a
// team of threads does it for many.
//
// Two windows are in progress at a time, in score buffers 0 and 1. Window n is gathered and its scoring is issued. Scoring
// starts from samples if the device has the fused step, else from rows whose cepstra it computed before. Then,
// - if advances overlap (a GPU): the search of n is queued behind that of n - 1, which is awaited, and results of n - 1 are
//   read while the device searches n. A pool makes the results of ended streams.
// - else: window n - 1 is searched while n is scored; then both are awaited and results of n - 1 are read.
// A stream's failure is recorded where it happens and handled at the end of a step.
//
// A failed allocation is the failure of its stream, or of its window. Lists of a step's streams have capacity for max_lanes
// from the start, and queues of streams are links in them. A stream has its last events from its start. So every stream
// reaches its end.
//
// Once the device is lost, it gets no further work. All its streams end with the reason, or go to the scheduler of the engine's
// fallback, which decodes them from the start of their audio. From then on this thread only passes streams on.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/linked_queue.h"
#include "core/base/thread_pool.h"
#include "core/engine/worker_pool.h"
#include "core/rows/window_rows.h"
#include "core/stream/stream.h"

namespace asr {

class Scheduler {
 public:
  // Returns the scheduler that takes the streams of a lost device; nullptr if there is none.
  using TakeOver = std::function<Scheduler *(const Error &reason)>;

  Scheduler(const LoadedModel &model, TakeOver take_over);
  ~Scheduler();
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;

  void stop();  // ends the thread; every stream must have been closed

  void enqueue(std::shared_ptr<Stream> stream) noexcept;  // queues a stream that has work; any thread
  // Reports the loss of the device, first noticed by the pool at this stream. Any thread.
  void lose(const Error &reason, std::shared_ptr<Stream> stream) noexcept;
  // Runs an action that calls the device between two steps, and returns when that is done. Throws its exceptions, and the loss
  // of the device. Any thread but this one.
  void run_between_steps(const std::function<void()> &action);
  void wake() noexcept;       // there is something to free; any thread
  void check_usable() const;  // throws the reason why no stream can be opened; any thread

 private:
  using StreamPointer = std::shared_ptr<Stream>;
  using Streams = std::vector<StreamPointer>;  // at most max_lanes, which is the capacity

  // A stream's part of a window: n_rows rows, whose log-likelihoods come to be at `place`.
  struct Part {
    StreamPointer stream;
    WindowRows::Place place;
    size_t n_rows;
    bool partial, check, last;  // afterwards a partial result is due; the endpointer checks; the utterance ends
  };
  struct Window {
    Window(const LoadedModel &model, uint32_t buffer) : rows(model, buffer) {}
    WindowRows rows;
    std::vector<Part> parts;
    std::vector<asr_advance_job> jobs;
    uint32_t n_lanes = 0;  // lanes that its utterances need
  };

  // The action that run_between_steps waits for.
  struct Errand {
    const std::function<void()> *action = nullptr;
    std::optional<Error> failure;
    bool is_done = false;
    Errand *next = nullptr;
  };

  void run();
  void reserve_lanes();
  void next_streams(bool may_sleep);
  void keep_own();
  void tidy() noexcept;
  void run_errand(Errand *errand) noexcept;
  void step(Window *now, Window *before);
  void decode(Window *now, Window *before);

  void prepare(const StreamPointer &stream);
  void fill_rows();
  void extract();
  void extract_fused();
  void gather(const StreamPointer &stream, Window *window);
  void gather_rows(const StreamPointer &stream, Window *window);
  void gather_dropped(const StreamPointer &stream, Window *window);
  void drop_cancelled();
  void combine(Window *now, const Window &before);
  void complete(Window *window);
  static void clear(Window *window);
  void advance(Window *window);
  void await(const Window &now, const Window &before);
  bool take_outcomes(const Window &window);
  template <typename Read, typename Action>
  void read_channels(const Streams &streams, Read read, Action action);
  template <typename Action>
  void for_best_paths(const Streams &streams, uint32_t wants, Action action);
  bool has_room(const Stream &stream, Window *window) const;
  std::optional<Background> background_of(const Stream &stream);
  asr_path best_path(asr_backend_channel *channel, uint32_t wants);
  uint32_t wants_common() const;
  EventPointer pause_event(Stream *stream, const asr_path &path, bool is_pause);
  void look_at_path(const StreamPointer &stream, const asr_path &path);
  void look_for_endpoint(Stream *stream, const PathTail &tail, const asr_path &path);
  void finish_later(const StreamPointer &stream);
  void finish_with_lattices(const Streams &streams);
  void list_channels(const Streams &streams);

  // Runs an action for each of the streams, on the team; it may touch only the stream. Its exception fails the stream.
  template <typename Action>
  void for_each_apart(const Streams &streams, Action action);
  // Runs an action for one stream, or one for all of a window; its exception fails that stream, or all of them.
  template <typename Action>
  void for_stream(const StreamPointer &stream, Action action) {
    try {
      action();
    } catch (...) {
      fail_stream(stream, current_error());
    }
  }
  template <typename Action>
  void for_window(const Window &window, Action action) {
    try {
      action();
    } catch (...) {
      fail_window(window, current_error());
    }
  }
  // Returns true if a call for many streams may have failed for one of them. One call for each stream then finds it.
  static bool may_be_one_stream(asr_status status) { return status != ASR_OK && status != ASR_DEVICE_LOST; }
  void fail_window(const Window &window, const Error &error) noexcept;
  void fail_stream(const StreamPointer &stream, const Error &error) noexcept;
  void give_up_device();
  void hand_over(const StreamPointer &stream) noexcept;
  void end_failed() noexcept;
  void end(const StreamPointer &stream) noexcept;
  bool is_stopping() const noexcept;
  void note_loss(const Error &reason) noexcept;
  std::optional<Error> loss() const noexcept;

  const LoadedModel &model_;
  const TakeOver take_over_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  LinkedQueue<StreamPointer, &Stream::next_queued_> queue_;
  std::condition_variable errand_done_;
  Errand *first_errand_ = nullptr;
  bool woken_ = false;
  bool stopping_ = false;
  std::optional<Error> loss_;  // why the device is no longer used
  bool can_fall_back_;

  // Members used by the thread only.
  Window windows_[2];
  Streams streams_;                                           // streams of this step
  std::set<StreamPointer> live_;                              // streams with rows
  LinkedQueue<StreamPointer, &Stream::next_failed_> failed_;  // to be ended when the device is idle
  Scheduler *spare_ = nullptr;                                // takes the streams of a lost device
  bool given_up_ = false;
  ThreadPool team_;
  std::vector<std::optional<Error>> failures_;  // failures of for_each_apart
  // Scratch of extract, and of complete and its callees.
  Streams extracting_, partial_, checked_, last_, last_with_lattice_;
  std::vector<asr_extract_job> jobs_;
  std::vector<asr_backend_channel *> channels_;
  std::vector<asr_path> paths_;
  std::vector<asr_raw_lattice> lattices_;
  std::thread thread_;
};

}  // namespace asr
