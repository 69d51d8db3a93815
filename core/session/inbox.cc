// SPDX-License-Identifier: Apache-2.0
#include "core/session/inbox.h"

#include <algorithm>
#include <utility>

namespace asr {

void Inbox::enqueue(std::shared_ptr<Session> session) noexcept {
  if (session->is_queued.exchange(true)) return;
  {
    const std::lock_guard lock(mutex_);
    queue_.push(std::move(session));
  }
  work_.notify_one();
}

void Inbox::lose(const Error &reason, std::shared_ptr<Session> session) noexcept {
  note_loss(reason);
  enqueue(std::move(session));  // so that the thread sees it
}

void Inbox::run_between_steps(const std::function<void()> &action) {
  Task task;
  task.action = &action;
  std::unique_lock lock(mutex_);
  task.next = std::exchange(first_task_, &task);
  work_.notify_one();
  task_done_.wait(lock, [&] { return task.is_done; });
  if (task.failure) throw Error(*task.failure);
}

void Inbox::wake() noexcept {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  work_.notify_one();
}

void Inbox::check_usable() const {
  const std::lock_guard lock(mutex_);
  if (loss_ && !can_fall_back_) throw Error(*loss_);
}

void Inbox::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
}

template <typename Choice>
void Inbox::take_if(const Choice &is_chosen, std::vector<std::shared_ptr<Session>> *sessions) {
  for (size_t n = queue_.size(); n > 0; --n) {
    std::shared_ptr<Session> session = queue_.pop();
    if (!is_chosen(*session)) {
      queue_.push(std::move(session));
      continue;
    }
    session->is_queued = false;  // may be queued again from now on
    sessions->push_back(std::move(session));
  }
}

void Inbox::next_sessions(bool may_sleep, size_t most, std::optional<Turns> turns,
                          std::optional<Intake::Clock::time_point> wake_at, std::vector<std::shared_ptr<Session>> *sessions) {
  std::unique_lock lock(mutex_);
  const auto has_work = [&] { return !queue_.empty() || first_task_ != nullptr || woken_ || stopping_; };
  if (may_sleep && wake_at) {
    work_.wait_until(lock, *wake_at, has_work);
  } else if (may_sleep) {
    work_.wait(lock, has_work);
  }
  woken_ = false;
  const auto is_apart = [](const Session &session) { return session.n_windows == 0; };
  size_t n_left = most;  // live sessions that may still be taken
  if (turns) {
    size_t n_apart = 0;
    const auto count = [&](const Session &session) {
      if (is_apart(session) && session.is_live()) ++n_apart;
      return false;
    };
    take_if(count, sessions);
    n_left = (std::max(turns->n_live, turns->n_in_window + n_apart) + 1) / 2;
  }
  const auto may_be_taken = [&](const Session &session) {
    if (sessions->size() == most) return false;
    if (!session.is_live()) return true;
    if (n_left == 0) return false;
    --n_left;
    return true;
  };
  take_if([&](const Session &session) { return (!turns || is_apart(session)) && may_be_taken(session); }, sessions);
  if (sessions->empty()) take_if(may_be_taken, sessions);
}

void Inbox::run_tasks() noexcept {
  std::unique_lock lock(mutex_);
  while (Task *const task = first_task_) {
    first_task_ = task->next;
    lock.unlock();
    run(task);
    lock.lock();
    task->is_done = true;  // may be destroyed from here on
    task_done_.notify_all();
  }
}

void Inbox::run(Task *task) noexcept {
  try {
    if (const std::optional<Error> reason = loss()) throw Error(*reason);
    (*task->action)();
  } catch (...) {
    task->failure = current_error();
    if (task->failure->code() == ASR_DEVICE_LOST) note_loss(*task->failure);
  }
}

bool Inbox::is_stopping() const noexcept {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Inbox::note_loss(const Error &reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (!loss_) loss_ = reason;
}

std::optional<Error> Inbox::loss() const noexcept {
  const std::lock_guard lock(mutex_);
  return loss_;
}

void Inbox::set_can_fall_back(bool can_fall_back) noexcept {
  const std::lock_guard lock(mutex_);
  can_fall_back_ = can_fall_back;
}

}  // namespace asr
