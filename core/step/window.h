// SPDX-License-Identifier: Apache-2.0
// Window is the work of one step for the device: the next rows of up to max_lanes sessions. Its calls come in this order:
// gather, score, combine, advance, take_outcomes, collect. The Scheduler has two, which take turns. Used by the engine's
// thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/base/linked_queue.h"
#include "core/base/thread_pool.h"
#include "core/session/inbox.h"
#include "core/session/session.h"

namespace asr {

using SessionPointer = std::shared_ptr<Session>;
using Sessions = std::vector<SessionPointer>;  // at most max_lanes, which is the capacity

// The sessions that failed in a step. They are ended when the device is idle. Needs no memory.
class FailedSessions {
 public:
  explicit FailedSessions(Inbox *inbox) : inbox_(inbox) {}
  void add(const SessionPointer &session, const Error &reason) noexcept;
  void add_current(const SessionPointer &session) noexcept { add(session, current_error()); }  // in a handler
  void note(const Error &reason) noexcept;  // in add(), too: remembers that the device is lost, if that is the reason
  SessionPointer pop() noexcept { return queue_.pop(); }

 private:
  Inbox *const inbox_;
  LinkedQueue<SessionPointer, &Session::next_failed> queue_;
};

// Returns true if a call for many sessions may have failed for one of them. One call for each session then finds it.
inline bool may_be_one_session(asr_status status) { return status != ASR_OK && status != ASR_DEVICE_LOST; }

class Window {
 public:
  // buffer: the score buffer that it uses.
  Window(const LoadedModel &model, uint32_t buffer, FailedSessions *failed);

  bool empty() const { return parts_.empty(); }
  size_t size() const { return parts_.size(); }        // sessions
  bool is_searched() const { return !jobs_.empty(); }  // advance() has given the device work

  // Takes the sessions' ready rows. Sessions that do not fit, or will have more, are queued again.
  void gather(const Sessions &sessions);
  size_t n_advanced() const;  // streams whose rows it has
  void score();               // issues the scoring
  // Fuses the scores that the device does not, on the team; the scoring has been awaited.
  bool is_fused_here() const { return rows_.is_fused_here(); }
  void combine(ThreadPool *team);
  void advance();  // issues the search
  // Fails the sessions whose channels failed in the search, which has been awaited.
  void take_outcomes();
  void fail_all(const Error &reason) noexcept;
  // Reads the results that are due after the search, which has been awaited, and passes them to the sessions.
  void collect();
  void clear();

  // Calls action(session) for the session of each part.
  template <typename Action>
  void for_each_session(Action action) const {
    for (const Part &part : parts_) action(part.session);
  }

 private:
  struct Part {
    SessionPointer session;
    Session::Share share;
  };
  using Results = void (Session::*)(const asr_path &);

  void give(const SessionPointer &session, const Session::Share &share);
  void collect_paths(const Sessions &sessions, uint32_t wants, Results results);
  void collect_lattices(const Sessions &sessions);
  void list_channels(const Sessions &sessions);

  const LoadedModel &model_;
  FailedSessions *const failed_;
  WindowRows rows_;
  std::vector<Part> parts_;
  std::vector<asr_advance_job> jobs_;
  // Scratch of collect(), with capacity for max_lanes.
  Sessions partial_, checked_, last_, last_with_lattice_;
  std::vector<asr_backend_channel *> channels_;
  std::vector<asr_path> paths_;
  std::vector<asr_raw_lattice> lattices_;
};

}  // namespace asr
