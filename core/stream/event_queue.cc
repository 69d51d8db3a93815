// SPDX-License-Identifier: Apache-2.0
#include "core/stream/event_queue.h"

#include <chrono>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/process_wide.h"

namespace asr {
namespace {

thread_local const EventQueue *t_delivering = nullptr;  // the queue whose callback is running on this thread

ProcessWide<std::mutex> g_awaiting;  // guards awaits_ of all queues

}  // namespace

// A callback that waits lets others run beyond asr_engine_config.max_callback_threads, as it may wait for them.
class EventQueue::CallbackWaits {
 public:
  CallbackWaits() {
    if (t_delivering != nullptr) waiting_.emplace(t_delivering->pool_);
  }

 private:
  std::optional<WorkerPool::Waiting> waiting_;
};

void EventQueue::post(EventPointer event, uint64_t generation) noexcept {
  bool needs_deliverer = false;
  {
    std::lock_guard lock(mutex_);
    if (closed_ || generation != generation_) return;
    n_rows_ += event->rows.n_rows;
    asr_event *const last = events_.last();
    if (last != nullptr && last->kind == ASR_EVENT_PARTIAL && event->kind == ASR_EVENT_PARTIAL) {
      std::swap(*last, *event);  // neither has a link
    } else {
      events_.push(std::move(event));
    }
    if (callback_ && !delivering_) needs_deliverer = delivering_ = true;
  }
  changed_.notify_all();
  if (needs_deliverer) pool_->submit(shared_from_this());
}

uint64_t EventQueue::begin_again() noexcept {
  std::lock_guard lock(mutex_);
  events_.clear();
  n_rows_ = 0;
  end_taken_ = false;
  return ++generation_;
}

EventPointer EventQueue::pop() {
  EventPointer event = events_.pop();
  if (event) n_rows_ -= event->rows.n_rows;
  return event;
}

EventPointer EventQueue::poll() {
  std::lock_guard lock(mutex_);
  if (callback_) fail(ASR_INVALID_STATE, "asr_result: the stream has a callback, which receives its events");
  EventPointer event = pop();
  if (event && event->kind == ASR_EVENT_END) end_taken_ = true;
  return event;
}

uint64_t EventQueue::n_rows() const {
  const std::lock_guard lock(mutex_);
  return n_rows_;
}

void EventQueue::wait_for_rows(uint64_t most, const std::function<bool()> &is_over) {
  const CallbackWaits waits;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return n_rows_ <= most || closed_ || is_over(); });
}

void EventQueue::wake() noexcept {
  { const std::lock_guard lock(mutex_); }  // so that who is about to wait does
  changed_.notify_all();
}

void EventQueue::wait(int32_t timeout_ms) {
  if (in_callback()) {
    fail(ASR_INVALID_STATE, "asr_wait: called in the stream's own callback, which it would wait for");
  }
  const CallbackWaits waits;
  std::unique_lock lock(mutex_);
  if (!callback_ && end_taken_) fail(ASR_INVALID_STATE, "asr_wait: the stream's last event was taken already");
  const auto ready = [&] { return callback_ ? end_taken_ : !events_.empty() || end_taken_; };
  if (timeout_ms < 0) {
    // Events come without the help of callbacks; END is delivered only when they have returned.
    if (callback_ && !ready() && !begin_to_await()) {
      fail(ASR_INVALID_STATE, "asr_wait: the stream's callback waits for the one that calls this, so neither would end");
    }
    changed_.wait(lock, ready);
    if (callback_) end_to_await();
  } else if (!changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready)) {
    fail(ASR_TIMEOUT, "asr_wait: no event within %d ms", timeout_ms);
  }
}

bool EventQueue::in_callback() const { return t_delivering == this; }

void EventQueue::close(Handle *handle) noexcept {
  const CallbackWaits waits;
  std::unique_lock lock(mutex_);
  closed_ = true;
  events_.clear();
  if (!calling_) return;
  if (!begin_to_await()) {
    handle_ = std::move(*handle);
    return;
  }
  changed_.wait(lock, [&] { return !calling_; });
  end_to_await();
}

// Records that the callback running on this thread, if any, waits for this queue's callback. Returns false if that callback
// waits for this one, too, directly or through others.
bool EventQueue::begin_to_await() const {
  if (t_delivering == nullptr) return true;
  std::lock_guard lock(*g_awaiting);
  for (const EventQueue *queue = this; queue != nullptr; queue = queue->awaits_) {
    if (queue == t_delivering) return false;
  }
  t_delivering->awaits_ = this;
  return true;
}

void EventQueue::end_to_await() const {
  if (t_delivering == nullptr) return;
  std::lock_guard lock(*g_awaiting);
  t_delivering->awaits_ = nullptr;
}

void EventQueue::run() noexcept {
  Handle handle(nullptr, nullptr);  // destroyed after the lock is released
  std::unique_lock lock(mutex_);
  t_delivering = this;
  calling_ = true;
  while (EventPointer event = pop()) {
    if (event->rows.n_rows > 0) changed_.notify_all();
    const bool last = event->kind == ASR_EVENT_END;
    const uint64_t generation = generation_;
    lock.unlock();
    callback_(std::move(event));
    lock.lock();
    if (last && generation == generation_) end_taken_ = true;
  }
  calling_ = delivering_ = false;
  t_delivering = nullptr;
  std::swap(handle, handle_);
  lock.unlock();
  changed_.notify_all();
}

}  // namespace asr
