// SPDX-License-Identifier: Apache-2.0
#include "core/engine/callback_pool.h"

#include <system_error>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/engine/event_queue.h"

namespace asr {

CallbackPool::~CallbackPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread &thread : threads_) thread.join();
}

void CallbackPool::require_thread() {
  std::lock_guard lock(mutex_);
  if (!threads_.empty()) return;
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error &error) {
    fail(ASR_OUT_OF_MEMORY, "asr_open: no thread for callbacks: %s", error.what());
  }
}

void CallbackPool::submit(std::shared_ptr<EventQueue> queue) {
  {
    std::lock_guard lock(mutex_);
    queues_.push_back(std::move(queue));
    if (queues_.size() > n_idle_) {
      try {
        threads_.emplace_back([this] { run(); });
      } catch (const std::system_error &error) {
        log(ASR_LOG_WARNING, "no further thread for callbacks, some will be late: %s", error.what());
      }
    }
  }
  work_.notify_one();
}

void CallbackPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++n_idle_;
    work_.wait(lock, [&] { return !queues_.empty() || stopping_; });
    --n_idle_;
    if (queues_.empty()) return;
    const std::shared_ptr<EventQueue> queue = std::move(queues_.front());
    queues_.pop_front();
    lock.unlock();
    queue->deliver();
    lock.lock();
  }
}

}  // namespace asr
