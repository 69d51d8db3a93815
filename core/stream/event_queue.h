// SPDX-License-Identifier: Apache-2.0
// EventQueue delivers the events of one stream in order: by polling, or to its callback on a thread of the engine's callback
// pool. The next PARTIAL replaces a waiting one. If a stream replaces another (asr_reset), both share the queue, and only the
// later stream's events pass.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "core/base/linked_queue.h"
#include "core/engine/worker_pool.h"
#include "core/stream/event.h"

namespace asr {

class EventQueue : public WorkerPool::Job, public std::enable_shared_from_this<EventQueue> {
 public:
  // An object of the user that a callback needs, such as the handle of the stream.
  using Handle = std::unique_ptr<void, void (*)(void *)>;

  // An empty callback: events are polled, and no pool is needed.
  EventQueue(std::function<void(EventPointer)> callback, WorkerPool *pool) : callback_(std::move(callback)), pool_(pool) {}

  // The engine's side; does nothing once the queue is closed, or for an earlier generation. begin_again() discards undelivered
  // events and returns the next generation; the first is 0.
  void post(EventPointer event, uint64_t generation) noexcept;
  uint64_t begin_again() noexcept;

  EventPointer poll();  // returns the next event; null if none is available
  // Rows in events that were not taken yet. wait_for_rows() waits until a callback has left at most `most` of them, or
  // is_over(), of whose change wake() tells.
  uint64_t n_rows() const;
  void wait_for_rows(uint64_t most, const std::function<bool()> &is_over);
  void wake() noexcept;
  void wait(int32_t timeout_ms);  // asr_wait; throws if callbacks would wait for each other for ever
  bool in_callback() const;       // true if this thread runs the callback

  // Discards undelivered events and waits for a running callback; not allowed in that callback. If callbacks close each other's
  // queues they would wait for ever, so the last of them does not wait. Its queue then takes `*handle` and frees it when the
  // running callback has returned.
  void close(Handle *handle) noexcept;

 private:
  class CallbackWaits;

  EventPointer pop();            // requires mutex_
  void run() noexcept override;  // the pool's side: calls back until no event is left
  bool begin_to_await() const;
  void end_to_await() const;

  const std::function<void(EventPointer)> callback_;
  WorkerPool *const pool_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  LinkedQueue<EventPointer, &asr_event::next> events_;
  uint64_t n_rows_ = 0;      // of events_
  bool delivering_ = false;  // run() is running or about to
  bool calling_ = false;     // run() is running
  bool end_taken_ = false;
  uint64_t generation_ = 0;
  bool closed_ = false;
  Handle handle_{nullptr, nullptr};             // freed after the running callback
  mutable const EventQueue *awaits_ = nullptr;  // the queue whose callback this one's waits for; guarded by g_awaiting
};

}  // namespace asr
