// SPDX-License-Identifier: Apache-2.0
// The events of one stream on their way to its user, in order: kept until they are polled, or handed to its callback on a
// thread of the engine's callback pool.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/engine/event.h"

namespace asr {

class WorkerPool;

class EventQueue : public std::enable_shared_from_this<EventQueue> {
 public:
  // An empty callback: events are polled, and no pool is needed.
  EventQueue(std::function<void(Event)> callback, WorkerPool *pool) : callback_(std::move(callback)), pool_(pool) {}

  void post(Event event);  // the engine's side; nothing happens once the queue is closed

  std::optional<Event> poll();    // the next event, if there is one now
  void wait(int32_t timeout_ms);  // asr_wait
  bool in_callback() const;       // whether this thread runs the callback
  void close();                   // waits for a running callback and discards the rest; not in the callback

  void deliver();  // the pool's side: calls back until no event is left

 private:
  const std::function<void(Event)> callback_;
  WorkerPool *const pool_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  bool delivering_ = false;  // deliver() runs or is about to
  std::thread::id deliverer_;
  bool end_taken_ = false;
  bool closed_ = false;
};

}  // namespace asr
