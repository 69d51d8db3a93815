// SPDX-License-Identifier: Apache-2.0
// WorkerPool runs work that must not delay the engine's own threads: one pool runs callbacks, another makes results of
// lattices. SerialWork runs the jobs of one stream on such a pool.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/linked_queue.h"

namespace asr {

// A pool has as many threads as jobs have waited at once, up to a limit. Without a limit a slow job therefore delays no other.
// With one a job that waits for other jobs says so (Waiting), so that they can run.
class WorkerPool {
 public:
  // In the pool at most once at a time; it may be submitted again as soon as it runs.
  class Job {
   public:
    virtual ~Job() = default;
    virtual void run() noexcept = 0;
    std::shared_ptr<Job> next;  // link in the pool
  };

  // begin_thread: first action of each thread. A thread in which it throws is not started.
  explicit WorkerPool(
      uint32_t max_threads = UINT32_MAX, std::function<void()> begin_thread = [] {});
  // Waits for the submitted jobs. If it runs on a thread of the pool, that thread ends by itself later.
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  // While one exists, the job that made it, on a thread of the pool, does not count against the limit.
  class Waiting {
   public:
    explicit Waiting(WorkerPool *pool) noexcept : pool_(pool) { pool_->begin_waiting(); }
    ~Waiting() { pool_->end_waiting(); }
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;

   private:
    WorkerPool *const pool_;
  };

  void require_thread();                           // starts the first thread; throws if it cannot
  void submit(std::shared_ptr<Job> job) noexcept;  // runs the job on a thread of the pool, which must have one

 private:
  // Shared with the threads, one of which may outlive the pool.
  struct State {
    explicit State(uint32_t max_running) : max_running(max_running) {}
    const size_t max_running;
    std::mutex mutex;
    std::condition_variable work;
    LinkedQueue<std::shared_ptr<Job>, &Job::next> jobs;
    size_t n_idle = 0, n_running = 0, n_waiting = 0;  // threads; jobs, without the waiting ones, of which there are n_waiting
    bool stopping = false;

    void serve();
  };
  void start_thread();                            // requires the mutex
  std::optional<Error> start_thread_if_needed();  // requires the mutex; returns why there is none
  void begin_waiting() noexcept;
  void end_waiting() noexcept;

  const std::function<void()> begin_thread_;
  const std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

// Runs the jobs of one stream one after the other, in order, in parallel with other streams' jobs.
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
