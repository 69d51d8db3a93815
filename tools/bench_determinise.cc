// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_determinise.h"

#include <algorithm>
#include <utility>

namespace asr::tool {
namespace {

constexpr size_t kWaitingPerThread = 64;

}  // namespace

Determinisers::Determinisers(uint32_t n_threads, const DeterminiseOptions &options) : options_(options) {
  if (n_threads == 0) n_threads = std::max(1u, std::thread::hardware_concurrency());
  for (uint32_t i = 0; i < n_threads; ++i) threads_.emplace_back([this] { work(); });
}

Determinisers::~Determinisers() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread &thread : threads_) thread.join();
}

void Determinisers::add(Lattice lattice) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < kWaitingPerThread * threads_.size(); });
  waiting_.push_back(std::move(lattice));
  lock.unlock();
  changed_.notify_all();
}

Determinisers::Size Determinisers::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && n_working_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  return std::exchange(done_, Size{});
}

void Determinisers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    Lattice lattice = std::move(waiting_.front());
    waiting_.pop_front();
    ++n_working_;
    lock.unlock();
    Size size;
    std::exception_ptr failure;
    try {
      const CompactLattice compact = determinise(std::move(lattice), options_).lattice;
      size = {compact.n_states(), compact.arcs.size()};
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --n_working_;
    done_ = {done_.n_states + size.n_states, done_.n_arcs + size.n_arcs};
    if (failure) failure_ = failure;
    changed_.notify_all();
  }
}

}  // namespace asr::tool
