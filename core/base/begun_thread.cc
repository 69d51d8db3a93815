// SPDX-License-Identifier: Apache-2.0
#include "core/base/begun_thread.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "core/base/kept_signals.h"

namespace asr {
namespace {

// Result of the thread's first action, on the stack of the thread that waits for it.
struct Beginning {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  std::exception_ptr failure;

  // Notifies under the mutex, as this object is gone when the waiting thread has it.
  void end(std::exception_ptr with) {
    const std::lock_guard lock(mutex);
    failure = std::move(with);
    is_over = true;
    changed.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return is_over; });
  }
};

}  // namespace

std::thread quiet_thread(std::function<void()> body) {
  const SignalsBlocked blocked;
  return std::thread(std::move(body));
}

std::thread begun_thread(std::function<void()> begin, std::function<void()> body) {
  Beginning beginning;
  std::thread thread = quiet_thread([&beginning, begin = std::move(begin), body = std::move(body)] {
    try {
      begin();
    } catch (...) {
      beginning.end(std::current_exception());
      return;
    }
    beginning.end(nullptr);
    body();
  });
  beginning.wait();
  if (beginning.failure) {
    thread.join();
    std::rethrow_exception(beginning.failure);
  }
  return thread;
}

}  // namespace asr
