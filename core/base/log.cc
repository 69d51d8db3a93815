// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <new>
#include <shared_mutex>

namespace asr {
namespace {

// Threads hold the lock while they call the receiver, so that set_log returns only after old calls have ended.
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

thread_local bool t_in_receiver = false;  // this thread holds the lock and must not lock it again
thread_local HeldLog *t_held = nullptr;

void deliver(asr_log_level level, const char *message) {
  Receiver &r = receiver();
  if (t_in_receiver) return;  // logged from inside the receiver: calling it again would never end
  std::shared_lock lock(r.mutex);
  t_in_receiver = true;
  if (r.log && static_cast<int>(level) <= r.level) r.log(level, message, r.user_data);
  t_in_receiver = false;
}

}  // namespace

HeldLog::HeldLog() noexcept {
  if (t_held == nullptr) t_held = this;
}

HeldLog::~HeldLog() {
  if (t_held != this) return;
  t_held = nullptr;
  for (const Message &message : messages_) deliver(message.level, message.text.c_str());
}

void HeldLog::keep(asr_log_level level, const char *text) noexcept {
  try {
    messages_.push_back({level, text});
  } catch (const std::bad_alloc &) {  // only this message is lost
  }
}

void set_log(asr_log_fn log, asr_log_level level, void *user_data) {
  Receiver &r = receiver();
  std::unique_lock lock(r.mutex);
  r.log = log;
  r.user_data = user_data;
  r.level = log ? static_cast<int>(level) : -1;
}

bool in_log_function() noexcept { return t_in_receiver; }

void log(asr_log_level level, const char *format, ...) {
  Receiver &r = receiver();
  if (static_cast<int>(level) > r.level.load(std::memory_order_relaxed)) return;
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  if (t_held != nullptr) {
    t_held->keep(level, message);
  } else {
    deliver(level, message);
  }
}

}  // namespace asr
