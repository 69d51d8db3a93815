// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/begun_thread.h"
#include "core/base/parallel.h"

namespace asr {
namespace {

// State of one call of run(): helpers and the caller take task numbers from `next` until none is left.
struct Loop {
  const std::function<void(size_t)> &task;
  const size_t n_tasks;
  std::atomic<size_t> next{0};
  uint32_t n_helping = 0;  // workers inside work(); guarded by the pool's mutex
  std::exception_ptr error;
  std::mutex error_mutex;
  Loop *younger = nullptr;  // in the pool's list

  bool exhausted() const { return next.load(std::memory_order_relaxed) >= n_tasks; }

  void work() {
    for (size_t i = next++; i < n_tasks; i = next++) {
      try {
        task(i);
      } catch (...) {
        std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
      }
    }
  }
};

}  // namespace

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable loop_added, helper_left;
  Loop *oldest = nullptr;
  std::vector<std::thread> workers;
  bool stopping = false;

  void add(Loop *loop) {
    Loop **end = &oldest;
    while (*end != nullptr) end = &(*end)->younger;
    *end = loop;
  }

  void remove(const Loop *loop) {
    Loop **at = &oldest;
    while (*at != nullptr && *at != loop) at = &(*at)->younger;
    if (*at != nullptr) *at = loop->younger;
  }

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      loop_added.wait(lock, [this] { return stopping || oldest != nullptr; });
      if (stopping) return;
      Loop &loop = *oldest;
      if (loop.exhausted()) {
        oldest = loop.younger;
        continue;
      }
      ++loop.n_helping;
      lock.unlock();
      loop.work();
      lock.lock();
      if (--loop.n_helping == 0) helper_left.notify_all();
    }
  }

  void stop() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
    }
    loop_added.notify_all();
    for (std::thread &worker : workers) worker.join();
    workers.clear();
  }
};

ThreadPool::ThreadPool(uint32_t n_threads) : state_(std::make_unique<State>()) {
  const uint32_t n = n_threads == 0 ? n_usable_cores() : n_threads;
  state_->workers.reserve(n);  // so that a thread that has started has a place
  try {
    for (uint32_t i = 1; i < n; ++i) state_->workers.push_back(quiet_thread([state = state_.get()] { state->serve(); }));
  } catch (...) {  // the system could not start another thread
    state_->stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { state_->stop(); }

uint32_t ThreadPool::n_threads() const { return static_cast<uint32_t>(state_->workers.size()) + 1; }

void ThreadPool::run(size_t n_tasks, const std::function<void(size_t)> &task) {
  Loop loop{task, n_tasks, {}, 0, nullptr, {}, nullptr};
  const bool shared = n_tasks > 1 && !state_->workers.empty();
  if (shared) {
    std::lock_guard lock(state_->mutex);
    state_->add(&loop);
    state_->loop_added.notify_all();
  }
  loop.work();
  if (shared) {
    std::unique_lock lock(state_->mutex);
    state_->remove(&loop);
    state_->helper_left.wait(lock, [&loop] { return loop.n_helping == 0; });
  }
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace asr
