// SPDX-License-Identifier: Apache-2.0
#include "core/engine/serial_work.h"

#include <utility>

namespace asr {

void SerialWork::submit(std::function<void()> job) {
  auto item = std::make_unique<Item>();
  item->run = std::move(job);
  {
    std::lock_guard lock(mutex_);
    items_.push(std::move(item));
    if (std::exchange(running_, true)) return;
  }
  pool_->submit(shared_from_this());
}

void SerialWork::run() noexcept {
  std::unique_lock lock(mutex_);
  while (std::unique_ptr<Item> item = items_.pop()) {
    lock.unlock();
    item->run();
    item.reset();  // it may hold the last share of its stream's channel
    lock.lock();
  }
  running_ = false;
}

}  // namespace asr
