// SPDX-License-Identifier: Apache-2.0
#include "core/engine/worker_pool.h"

#include <system_error>

#include "core/base/error.h"
#include "core/base/log.h"

namespace asr {

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread &thread : threads_) thread.join();
}

void WorkerPool::require_thread() {
  std::lock_guard lock(mutex_);
  if (!threads_.empty()) return;
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error &error) {
    fail(ASR_OUT_OF_MEMORY, "asr_open: no thread for its results: %s", error.what());
  }
}

void WorkerPool::submit(std::function<void()> job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (jobs_.size() > n_idle_ && threads_.size() < max_threads_) {
      try {
        threads_.emplace_back([this] { run(); });
      } catch (const std::exception &error) {
        log(ASR_LOG_WARNING, "no further thread for results, some will be late: %s", error.what());
      }
    }
  }
  work_.notify_one();
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++n_idle_;
    work_.wait(lock, [&] { return !jobs_.empty() || stopping_; });
    --n_idle_;
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace asr
