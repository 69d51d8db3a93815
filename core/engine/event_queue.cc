// SPDX-License-Identifier: Apache-2.0
#include "core/engine/event_queue.h"

#include <chrono>

#include "core/base/error.h"
#include "core/engine/worker_pool.h"

namespace asr {

void EventQueue::post(Event event) {
  bool needs_deliverer = false;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    events_.push_back(std::move(event));
    if (callback_ && !delivering_) needs_deliverer = delivering_ = true;
  }
  changed_.notify_all();
  if (needs_deliverer) pool_->submit([queue = shared_from_this()] { queue->deliver(); });
}

std::optional<Event> EventQueue::poll() {
  std::lock_guard lock(mutex_);
  if (callback_) fail(ASR_INVALID_STATE, "asr_result: the stream has a callback, which receives its events");
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  if (event.kind == ASR_EVENT_END) end_taken_ = true;
  return event;
}

void EventQueue::wait(int32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  if (delivering_ && deliverer_ == std::this_thread::get_id()) {
    fail(ASR_INVALID_STATE, "asr_wait: called in the stream's own callback, which it would wait for");
  }
  if (!callback_ && end_taken_) fail(ASR_INVALID_STATE, "asr_wait: the stream's last event was taken already");
  const auto ready = [&] { return callback_ ? end_taken_ : !events_.empty() || end_taken_; };
  if (timeout_ms < 0) {
    changed_.wait(lock, ready);
  } else if (!changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready)) {
    fail(ASR_TIMEOUT, "asr_wait: no event within %d ms", timeout_ms);
  }
}

bool EventQueue::in_callback() const {
  std::lock_guard lock(mutex_);
  return deliverer_ == std::this_thread::get_id();
}

void EventQueue::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  events_.clear();
  changed_.wait(lock, [&] { return deliverer_ == std::thread::id(); });
}

void EventQueue::deliver() {
  std::unique_lock lock(mutex_);
  deliverer_ = std::this_thread::get_id();
  while (!events_.empty()) {
    Event event = std::move(events_.front());
    events_.pop_front();
    const bool last = event.kind == ASR_EVENT_END;
    lock.unlock();
    callback_(std::move(event));
    lock.lock();
    if (last) end_taken_ = true;
  }
  deliverer_ = std::thread::id();
  delivering_ = false;
  lock.unlock();
  changed_.notify_all();
}

}  // namespace asr
