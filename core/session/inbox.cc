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

void Inbox::next_sessions(bool may_sleep, size_t most, bool takes_half, size_t n_live,
                          std::optional<Intake::Clock::time_point> wake_at, std::vector<std::shared_ptr<Session>> *sessions) {
  std::unique_lock lock(mutex_);
  const auto has_work = [&] { return !queue_.empty() || first_task_ != nullptr || woken_ || stopping_; };
  if (may_sleep && wake_at) {
    work_.wait_until(lock, *wake_at, has_work);
  } else if (may_sleep) {
    work_.wait(lock, has_work);
  }
  woken_ = false;
  if (takes_half) most = std::min(most, (std::max(n_live, queue_.size()) + 1) / 2);
  const auto take = [&](bool of_windows) {
    for (size_t n = queue_.size(); n > 0 && sessions->size() < most; --n) {
      std::shared_ptr<Session> session = queue_.pop();
      if (session->n_windows > 0 && !of_windows) {
        queue_.push(std::move(session));
        continue;
      }
      session->is_queued = false;  // may be queued again from now on
      sessions->push_back(std::move(session));
    }
  };
  take(!takes_half);
  if (sessions->empty()) take(true);
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
