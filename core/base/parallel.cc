// SPDX-License-Identifier: Apache-2.0
#include "core/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "core/base/begun_thread.h"

namespace asr {
namespace {

constexpr size_t kMaxThreads = 8;  // more threads do not help where memory bandwidth is the limit

}  // namespace

uint32_t n_usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<uint32_t>(std::max(1, CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

void run_in_parallel(size_t n_tasks, const std::function<void(size_t)> &task, uint32_t n_threads) {
  std::vector<std::exception_ptr> errors(n_tasks);
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < n_tasks; i = next++) {
      try {
        task(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  const size_t n_wanted = n_threads > 0 ? n_threads : std::min(size_t{n_usable_cores()}, kMaxThreads);
  std::vector<std::thread> helpers;
  try {
    helpers.reserve(n_wanted);  // so that a thread that has started has a place
    while (helpers.size() + 1 < std::min(n_wanted, n_tasks)) helpers.push_back(quiet_thread(std::ref(work)));
  } catch (...) {  // no further thread could be started: the existing ones do the work
  }
  work();
  for (std::thread &helper : helpers) helper.join();
  for (const std::exception_ptr &error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace asr
