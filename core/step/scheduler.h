// SPDX-License-Identifier: Apache-2.0
// Scheduler is the engine's thread, the only one that calls the device. It advances sessions step by step, up to max_lanes of
// them by a window each, and posts their events. Taking samples and making rows from cepstra is independent per session, and a
// team of threads does it for many.
//
// Two windows are in progress at a time, in score buffers 0 and 1. Window n is gathered and its scoring is issued. Scoring
// starts from samples if the device has the fused step, else from rows whose cepstra it computed before. Then,
// - if advances overlap (a GPU): the search of n is queued behind that of n - 1, which is awaited, and results of n - 1 are
//   read while the device searches n. A pool makes the results of ended utterances.
// - else: window n - 1 is searched while n is scored; then both are awaited and results of n - 1 are read.
// A session's failure is recorded where it happens and handled at the end of a step.
//
// A failed allocation is the failure of its session, or of its window. Lists of a step's sessions have capacity for max_lanes
// from the start, and queues of sessions are links in them. A session's last events are allocated when it is opened. So every
// stream reaches its end.
//
// Once the device is lost, it gets no further work. All its streams end with the reason, or go to the scheduler of the engine's
// fallback, which decodes them from the start of their audio. From then on this thread only passes sessions on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "core/session/inbox.h"
#include "core/step/window.h"

namespace asr {

class Scheduler {
 public:
  // Returns the scheduler that takes the sessions of a lost device; nullptr if there is none.
  using TakeOver = std::function<Scheduler *(const Error &reason)>;

  Scheduler(const LoadedModel &model, TakeOver take_over, EngineMeter *meter);
  ~Scheduler();
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;

  Inbox &inbox() { return inbox_; }
  const Inbox &inbox() const { return inbox_; }
  void stop();  // ends the thread; every stream must have been closed

 private:
  void run();
  void keep_own();
  void watch(const SessionPointer &session);
  void end_idle();
  void step(Window *now, Window *before);
  void visit();
  void extract();
  void extract_fused();
  void decode(Window *now, Window *before);
  void combine(Window *now, Window *before);
  void await(Window *now, Window *before);
  void drop_cancelled();
  void give_up_device();
  void end_failed() noexcept;

  // Runs an action for each of the sessions, on the team; it may touch only the session. Its exception fails the session.
  template <typename Action>
  void for_each_apart(const Sessions &sessions, Action action);

  const LoadedModel &model_;
  const TakeOver take_over_;
  EngineMeter *const meter_;
  Inbox inbox_;

  // Members used by the thread only.
  FailedSessions failed_;
  Window windows_[2];
  Sessions sessions_;                                                         // of this step
  std::set<SessionPointer> live_;                                             // with work for the device
  std::multimap<Intake::Clock::time_point, std::weak_ptr<Session>> watched_;  // when to look whether a stream was fed
  Scheduler *fallback_ = nullptr;                                             // takes the sessions of a lost device
  bool given_up_ = false;
  ThreadPool team_;
  std::vector<std::optional<Error>> failures_;  // failures of for_each_apart
  // Scratch of extract.
  Sessions extracting_;
  std::vector<asr_extract_job> jobs_;
  std::thread thread_;
};

}  // namespace asr
