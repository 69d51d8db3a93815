// SPDX-License-Identifier: Apache-2.0
// Inbox is what other threads tell an engine's thread: sessions that have work, actions to run between two steps, and the loss
// of the device. Each Scheduler has one. All calls are for any thread, unless they are said to be the engine's.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/linked_queue.h"
#include "core/session/session.h"

namespace asr {

class Inbox {
 public:
  explicit Inbox(bool can_fall_back) : can_fall_back_(can_fall_back) {}
  Inbox(const Inbox &) = delete;
  Inbox &operator=(const Inbox &) = delete;

  void enqueue(std::shared_ptr<Session> session) noexcept;  // queues a session that has work
  // Reports the loss of the device, first noticed by a job at this session.
  void lose(const Error &reason, std::shared_ptr<Session> session) noexcept;
  // Runs an action that calls the device between two steps, and returns when that is done. Throws its exceptions, and the loss
  // of the device. Not for the engine's thread.
  void run_between_steps(const std::function<void()> &action);
  void wake() noexcept;       // there is an object to free
  void check_usable() const;  // throws the reason why no stream can be opened
  void stop() noexcept;       // the thread is to end

  // Turns has, if two windows are in progress at a time, the live sessions seen so far and those in the window in progress.
  struct Turns {
    size_t n_live, n_in_window;
  };
  // The engine's thread. next_sessions() moves at most `most` sessions with work to *sessions, in order of arrival. With turns
  // at most half of the live sessions are taken, so that the others make the next window. Those in the window in progress are
  // taken only if there are no others, because their next window has to wait for it. With may_sleep it first sleeps until
  // there is a session, or something else to do, or the time has come to wake.
  void next_sessions(bool may_sleep, size_t most, std::optional<Turns> turns, std::optional<Intake::Clock::time_point> wake_at,
                     std::vector<std::shared_ptr<Session>> *sessions);
  void run_tasks() noexcept;
  bool is_stopping() const noexcept;
  void note_loss(const Error &reason) noexcept;
  std::optional<Error> loss() const noexcept;
  void set_can_fall_back(bool can_fall_back) noexcept;

 private:
  // Moves the queued sessions that is_chosen(session) wants; all stay in order.
  template <typename Choice>
  void take_if(const Choice &is_chosen, std::vector<std::shared_ptr<Session>> *sessions);

  // The action that run_between_steps waits for.
  struct Task {
    const std::function<void()> *action = nullptr;
    std::optional<Error> failure;
    bool is_done = false;
    Task *next = nullptr;
  };
  void run(Task *task) noexcept;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  LinkedQueue<std::shared_ptr<Session>, &Session::next_queued> queue_;
  std::condition_variable task_done_;
  Task *first_task_ = nullptr;
  bool woken_ = false;
  bool stopping_ = false;
  std::optional<Error> loss_;  // why the device is no longer used
  bool can_fall_back_;
};

}  // namespace asr
