// SPDX-License-Identifier: Apache-2.0
#include "core/engine/worker_pool.h"

#include <optional>
#include <system_error>
#include <utility>

#include "core/base/begun_thread.h"
#include "core/base/error.h"
#include "core/base/log.h"

namespace asr {

WorkerPool::WorkerPool(uint32_t max_threads, std::function<void()> begin_thread)
    : begin_thread_(std::move(begin_thread)), state_(std::make_shared<State>(max_threads)) {}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work.notify_all();
  for (std::thread &thread : threads_) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

void WorkerPool::start_thread() {
  threads_.reserve(threads_.size() + 1);  // so that a thread that has begun has a place
  threads_.push_back(begun_thread(begin_thread_, [state = state_] { state->serve(); }));
}

void WorkerPool::require_thread() {
  std::lock_guard lock(state_->mutex);
  if (!threads_.empty()) return;
  try {
    start_thread();
  } catch (const std::system_error &) {
    fail_without_thread("asr_open");
  }
}

std::optional<Error> WorkerPool::start_thread_if_needed() {
  const size_t max_threads = state_->max_running + state_->n_waiting;
  if (state_->jobs.size() <= state_->n_idle || threads_.size() >= max_threads) return std::nullopt;
  try {
    start_thread();
    return std::nullopt;
  } catch (...) {
    return current_error();
  }
}

void WorkerPool::submit(std::shared_ptr<Job> job) noexcept {
  std::optional<Error> failure;
  {
    std::lock_guard lock(state_->mutex);
    state_->jobs.push(std::move(job));
    failure = start_thread_if_needed();
  }
  state_->work.notify_one();
  if (failure) log(ASR_LOG_WARNING, "no further thread for results, some will be late: %s", failure->what());
}

void WorkerPool::begin_waiting() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    ++state_->n_waiting;
    --state_->n_running;
    start_thread_if_needed();
  }
  state_->work.notify_one();
}

void WorkerPool::end_waiting() noexcept {
  const std::lock_guard lock(state_->mutex);
  --state_->n_waiting;
  ++state_->n_running;
}

void WorkerPool::State::serve() {
  std::unique_lock lock(mutex);
  for (;;) {
    ++n_idle;
    work.wait(lock, [&] { return jobs.empty() ? stopping : n_running < max_running; });
    --n_idle;
    std::shared_ptr<Job> job = jobs.pop();
    if (!job) return;
    ++n_running;
    lock.unlock();
    job->run();
    job.reset();
    lock.lock();
    --n_running;
    if (stopping) work.notify_all();  // others may have waited for the last job to begin
  }
}

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
