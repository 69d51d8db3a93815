// SPDX-License-Identifier: Apache-2.0
// Threads for work that must not hold up the engine's own: one pool runs callbacks, another makes results of lattices. There
// are as many threads as jobs have waited at once, up to a limit, so that without a limit a slow job delays nobody else's.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace asr {

class WorkerPool {
 public:
  explicit WorkerPool(uint32_t max_threads = UINT32_MAX) : max_threads_(max_threads) {}
  ~WorkerPool();  // after what was submitted has been done
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  void require_thread();                   // starts the first thread; throws if it cannot
  void submit(std::function<void()> job);  // runs it on a thread of the pool; it must not throw

 private:
  void run();

  const uint32_t max_threads_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  size_t n_idle_ = 0;
  bool stopping_ = false;
};

}  // namespace asr
