// SPDX-License-Identifier: Apache-2.0
// SerialWork runs the jobs of one stream on a pool of threads: one after the other, in order, in parallel with other
// streams' jobs.
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

  void submit(std::function<void()> job);  // the job must not throw. Throws std::bad_alloc; the job is then not done

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
