// SPDX-License-Identifier: Apache-2.0
// Threads for work that must not hold up the engine's own: one pool runs callbacks, another makes results of lattices. There
// are as many threads as jobs have waited at once, up to a limit, so that without a limit a slow job delays nobody else's.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/linked_queue.h"

namespace asr {

class WorkerPool {
 public:
  // In the pool at most once at a time; it may be submitted again as soon as it runs.
  class Job {
   public:
    virtual ~Job() = default;
    virtual void run() noexcept = 0;
    std::shared_ptr<Job> next;  // the pool's
  };

  // begin_thread: what each thread does first; it must not throw.
  explicit WorkerPool(
      uint32_t max_threads = UINT32_MAX, std::function<void()> begin_thread = [] {});
  // After what was submitted has been done. If it runs on a thread of the pool, that thread ends by itself later.
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  void require_thread();                           // starts the first thread; throws if it cannot
  void submit(std::shared_ptr<Job> job) noexcept;  // runs it on a thread of the pool, of which there must be one

 private:
  // Shared with the threads, one of which may outlive the pool.
  struct State {
    std::mutex mutex;
    std::condition_variable work;
    LinkedQueue<std::shared_ptr<Job>, &Job::next> jobs;
    size_t n_idle = 0;
    bool stopping = false;

    void serve();
  };
  void start_thread();  // with the mutex held

  const uint32_t max_threads_;
  const std::function<void()> begin_thread_;
  const std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

}  // namespace asr
