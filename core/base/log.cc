// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.h"

#include <atomic>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <new>

#include "core/base/printable.h"
#include "core/base/process_wide.h"

namespace asr {
namespace {

constexpr size_t kMaxLogBytes = 1024;  // with the NUL

struct Receiver {
  asr_log_fn log = nullptr;
  void *user_data = nullptr;
  int level = -1;
};

// A child of fork keeps its parent's receiver. set_log writes the one that is not current, so that the current one is whole at
// every instant. Both are guarded by the mutex of Calls, except for the level that log() looks at first.
Receiver g_receivers[2];
std::atomic<int> g_current{0}, g_level{-1};

// A running call of a receiver, on the stack of its thread.
struct Call {
  const uint64_t n_set;  // Calls::n_set when it began
  Call *next;
};

// The running calls, for which set_log waits. The mutex is free while a receiver runs.
struct Calls {
  std::mutex mutex;
  std::condition_variable ended;
  Call *newest = nullptr;
  uint64_t n_set = 0;  // calls of set_log

  bool has_older_than(uint64_t n) const {
    const Call *call = newest;
    while (call != nullptr && call->n_set >= n) call = call->next;
    return call != nullptr;
  }
  void remove(const Call *call) {
    Call **at = &newest;
    while (*at != nullptr && *at != call) at = &(*at)->next;
    if (*at != nullptr) *at = call->next;
  }
};
ProcessWide<Calls> g_calls;

thread_local bool t_in_receiver = false;  // logging from inside the receiver would never end
thread_local HeldLog *t_held = nullptr;

void deliver(asr_log_level level, const char *message) {
  if (t_in_receiver) return;
  std::unique_lock lock(g_calls->mutex);
  const Receiver receiver = g_receivers[g_current];
  if (receiver.log == nullptr || static_cast<int>(level) > receiver.level) return;
  Call call{g_calls->n_set, g_calls->newest};
  g_calls->newest = &call;
  lock.unlock();
  t_in_receiver = true;
  receiver.log(level, message, receiver.user_data);
  t_in_receiver = false;
  lock.lock();
  g_calls->remove(&call);
  g_calls->ended.notify_all();
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
  std::unique_lock lock(g_calls->mutex);
  const uint64_t number = ++g_calls->n_set;
  const int next = 1 - g_current;
  g_receivers[next] = {log, user_data, log != nullptr ? static_cast<int>(level) : -1};
  g_current = next;
  g_level = g_receivers[next].level;
  g_calls->ended.wait(lock, [&] { return !g_calls->has_older_than(number); });
  t_in_receiver = false;  // true in a child that was forked inside an earlier receiver, to which it does not return
}

bool in_log_function() noexcept { return t_in_receiver; }

void log(asr_log_level level, const char *format, ...) {
  if (static_cast<int>(level) > g_level.load(std::memory_order_relaxed)) return;
  char message[kMaxLogBytes], text[kMaxLogBytes + 4] = "";  // with the rest of the last character that has room in message
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  print_into(message, sizeof(message), text);
  if (t_held != nullptr) {
    t_held->keep(level, message);
  } else {
    deliver(level, message);
  }
}

}  // namespace asr
