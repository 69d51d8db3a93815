// SPDX-License-Identifier: Apache-2.0
#include "core/engine/serial_work.h"

#include <utility>

namespace asr {

void SerialWork::submit(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (std::exchange(running_, true)) return;
  }
  pool_->submit([self = shared_from_this()] { self->run(); });
}

void SerialWork::run() {
  std::unique_lock lock(mutex_);
  while (!jobs_.empty()) {
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
  running_ = false;
}

}  // namespace asr
