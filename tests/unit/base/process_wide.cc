// SPDX-License-Identifier: Apache-2.0
#include "core/base/process_wide.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace asr {
namespace {

struct Counted {
  std::mutex mutex;
  std::condition_variable changed;
  int value = 1;
};
ProcessWide<Counted> g_counted;
ProcessWide<std::mutex> g_mutex;

int exit_status(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A thread of the parent holds both locks, and another waits at the condition.
TEST(ProcessWide, AChildHasNewObjects) {
  bool is_over = false;
  std::thread waiting([&] {
    std::unique_lock lock(g_counted->mutex);
    g_counted->changed.wait(lock, [&] { return is_over; });
  });
  std::unique_lock lock(g_counted->mutex);
  const std::lock_guard other(*g_mutex);
  g_counted->value = 2;
  const uint32_t generation = process_generation();
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    const std::lock_guard own(g_counted->mutex);
    const std::lock_guard own_other(*g_mutex);
    g_counted->changed.notify_all();
    if (g_counted->value != 1 || process_generation() != generation + 1) _exit(1);
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(g_mutex->try_lock() && process_generation() == generation + 2 ? 0 : 1);
    _exit(exit_status(grandchild) == 0 ? 0 : 2);
  }
  EXPECT_EQ(exit_status(child), 0);
  EXPECT_EQ(g_counted->value, 2);
  EXPECT_EQ(process_generation(), generation);
  is_over = true;
  lock.unlock();
  g_counted->changed.notify_all();
  waiting.join();
}

}  // namespace
}  // namespace asr
