// SPDX-License-Identifier: Apache-2.0
// Jobs of one stream on a pool of threads: one after the other, in the order they came, beside those of other streams.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "core/engine/worker_pool.h"

namespace asr {

class SerialWork : public std::enable_shared_from_this<SerialWork> {
 public:
  explicit SerialWork(WorkerPool *pool) : pool_(pool) {}

  void submit(std::function<void()> job);  // it must not throw

 private:
  void run();

  WorkerPool *const pool_;
  std::mutex mutex_;
  std::deque<std::function<void()>> jobs_;
  bool running_ = false;
};

}  // namespace asr
