// SPDX-License-Identifier: Apache-2.0
// CallBatches lets threads that wait for a device share its next call. Each gives one request, and the one whose turn it is
// serves all that have come until the device is free. WarpDevice uses it, because a GPU that searches for many streams keeps
// every call waiting for its current work.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

namespace asr {

// A request has `size_t size() const`, by which a batch is limited.
template <typename Request>
class CallBatches {
 public:
  using Batch = std::vector<const Request *>;

  // serve(batch) runs under the mutex `device`, on the thread of one of its requests. Their sizes are max_size together at
  // most, or there is one.
  CallBatches(std::mutex *device, size_t max_size, std::function<void(const Batch &)> serve)
      : device_(device), max_size_(max_size), serve_(std::move(serve)) {}

  // Returns when the request has been served. Throws what `serve` threw for this request alone: if a batch fails, its requests
  // are served one by one.
  void run(const Request &request) {
    Entries own;
    own.emplace_back(request);
    const auto entry = own.begin();
    std::unique_lock lock(mutex_);
    waiting_.splice(waiting_.end(), own);
    while (!entry->is_done) {
      if (is_serving_) {
        changed_.wait(lock);
      } else {
        serve_next(&lock);
      }
    }
    own.splice(own.begin(), served_, entry);
    if (entry->failure) std::rethrow_exception(entry->failure);
  }

 private:
  struct Entry {
    explicit Entry(const Request &r) : request(&r) {}
    const Request *request;
    bool is_done = false;
    std::exception_ptr failure;
  };
  using Entries = std::list<Entry>;  // its thread makes an entry, which then moves from list to list without memory

  // Takes the batch when the device is free, so that it has all that have come by then.
  void serve_next(std::unique_lock<std::mutex> *lock) noexcept {
    is_serving_ = true;
    lock->unlock();
    Entries batch;
    {
      const std::lock_guard device(*device_);
      lock->lock();
      take_batch(&batch);
      lock->unlock();
      serve(&batch);
    }
    lock->lock();
    for (Entry &entry : batch) entry.is_done = true;
    served_.splice(served_.end(), batch);
    is_serving_ = false;
    changed_.notify_all();
  }

  // Takes the first request, with those after it that fit.
  void take_batch(Entries *batch) {
    auto end = waiting_.begin();
    size_t size = 0;
    do {
      size += (end++)->request->size();
    } while (end != waiting_.end() && size + end->request->size() <= max_size_);
    batch->splice(batch->end(), waiting_, waiting_.begin(), end);
  }

  void serve(Entries *entries) noexcept {
    try {
      Batch batch;
      for (const Entry &entry : *entries) batch.push_back(entry.request);
      serve_(batch);
    } catch (...) {
      if (entries->size() == 1) {
        entries->front().failure = std::current_exception();
      } else {
        serve_one_by_one(entries);
      }
    }
  }

  void serve_one_by_one(Entries *entries) noexcept {
    for (Entry &entry : *entries) {
      try {
        serve_({entry.request});
      } catch (...) {
        entry.failure = std::current_exception();
      }
    }
  }

  std::mutex *const device_;
  const size_t max_size_;
  const std::function<void(const Batch &)> serve_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool is_serving_ = false;
  Entries waiting_, served_;
};

}  // namespace asr
