// SPDX-License-Identifier: Apache-2.0
// Jobs of one stream on a pool of threads: one after the other, in the order they came, beside those of other streams.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "core/base/linked_queue.h"
#include "core/engine/worker_pool.h"

namespace asr {

class SerialWork : public WorkerPool::Job, public std::enable_shared_from_this<SerialWork> {
 public:
  explicit SerialWork(WorkerPool *pool) : pool_(pool) {}

  void submit(std::function<void()> job);  // it must not throw. Throws std::bad_alloc; then the job is not done

 private:
  struct Item {
    std::function<void()> run;
    std::unique_ptr<Item> next;
  };
  void run() noexcept override;

  WorkerPool *const pool_;
  std::mutex mutex_;
  LinkedQueue<std::unique_ptr<Item>, &Item::next> items_;
  bool running_ = false;
};

}  // namespace asr
