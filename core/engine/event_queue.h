// SPDX-License-Identifier: Apache-2.0
// The events of one stream on their way to its user, in order: kept until they are polled, or handed to its callback on a
// thread of the engine's callback pool. A PARTIAL that waits is replaced by the next one. Where a stream takes the place of
// another (asr_reset), both have the queue, and only the later one's events go through it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "core/base/linked_queue.h"
#include "core/engine/event.h"
#include "core/engine/worker_pool.h"

namespace asr {

class EventQueue : public WorkerPool::Job, public std::enable_shared_from_this<EventQueue> {
 public:
  // Something of the user's that a callback needs, such as the handle of the stream.
  using Keepsake = std::unique_ptr<void, void (*)(void *)>;

  // An empty callback: events are polled, and no pool is needed.
  EventQueue(std::function<void(EventPointer)> callback, WorkerPool *pool) : callback_(std::move(callback)), pool_(pool) {}

  // The engine's side; nothing happens once the queue is closed, or for another generation than the last. begin_again(): what
  // was not delivered is discarded; returns the next generation, the first being 0.
  void post(EventPointer event, uint64_t generation) noexcept;
  uint64_t begin_again() noexcept;

  EventPointer poll();            // the next event; null if there is none now
  void wait(int32_t timeout_ms);  // asr_wait; throws where callbacks would wait for each other for ever
  bool in_callback() const;       // whether this thread runs the callback

  // Discards what was not delivered and waits for a running callback; not in that callback. Callbacks that close each other's
  // queues would wait for ever, so the last of them does not. The callback that still runs then gets `*kept`, to be freed when
  // it has returned.
  void close(Keepsake *kept) noexcept;

 private:
  void run() noexcept override;  // the pool's side: calls back until no event is left
  bool begin_to_await() const;
  void end_to_await() const;

  const std::function<void(EventPointer)> callback_;
  WorkerPool *const pool_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  LinkedQueue<EventPointer, &asr_event::next> events_;
  bool delivering_ = false;  // run() runs or is about to
  bool calling_ = false;     // run() runs
  bool end_taken_ = false;
  uint64_t generation_ = 0;
  bool closed_ = false;
  Keepsake kept_{nullptr, nullptr};             // for after the callback that runs
  mutable const EventQueue *awaits_ = nullptr;  // the queue that this one's callback waits for; guarded by g_awaiting
};

}  // namespace asr
