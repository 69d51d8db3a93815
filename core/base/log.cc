// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <shared_mutex>

namespace asr {
namespace {

// Readers hold the lock while they call the receiver, so that set_log returns only after old calls have ended.
struct Receiver {
  std::shared_mutex mutex;
  asr_log_fn log = nullptr;
  void *user_data = nullptr;
  std::atomic<int> level{-1};
};

Receiver &receiver() {
  static Receiver *const instance = new Receiver;  // never destroyed: threads may log while the process exits
  return *instance;
}

}  // namespace

void set_log(asr_log_fn log, asr_log_level level, void *user_data) {
  Receiver &r = receiver();
  std::unique_lock lock(r.mutex);
  r.log = log;
  r.user_data = user_data;
  r.level = log ? static_cast<int>(level) : -1;
}

void log(asr_log_level level, const char *format, ...) {
  Receiver &r = receiver();
  if (static_cast<int>(level) > r.level.load(std::memory_order_relaxed)) return;
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  std::shared_lock lock(r.mutex);
  if (r.log && static_cast<int>(level) <= r.level) r.log(level, message, r.user_data);
}

}  // namespace asr
