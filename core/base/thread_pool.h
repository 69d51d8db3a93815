// SPDX-License-Identifier: Apache-2.0
// ThreadPool runs data-parallel loops of the back ends and the engine. The calling thread works too, so a pool of one thread
// has no workers and runs everything in the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace asr {

class ThreadPool {
 public:
  explicit ThreadPool(uint32_t n_threads);  // 0 = one thread per core that this process may use
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  uint32_t n_threads() const;

  // Calls task(i) for every i in 0..n_tasks-1, in any order, and returns when all have returned. Rethrows the first exception
  // of a task; without one it allocates no memory. May be called from several threads at once; must not be called inside a
  // task.
  void run(size_t n_tasks, const std::function<void(size_t)> &task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace asr
