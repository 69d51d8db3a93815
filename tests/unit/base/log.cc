// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace asr {
namespace {

struct Gate {
  std::atomic<bool> is_inside{false}, may_go{false};
};

void wait_inside(asr_log_level, const char *, void *user_data) {
  Gate &gate = *static_cast<Gate *>(user_data);
  gate.is_inside = true;
  while (!gate.may_go) std::this_thread::yield();
}

void count(asr_log_level, const char *, void *user_data) { ++*static_cast<std::atomic<int> *>(user_data); }

// set_log waits for calls of the old receiver, and for no call of the new one.
TEST(Log, SetLogWaitsForTheOldReceiver) {
  Gate old_gate, new_gate;
  std::atomic<bool> is_set{false};
  set_log(wait_inside, ASR_LOG_ERROR, &old_gate);
  std::thread old_caller([] { log(ASR_LOG_ERROR, "to the old one"); });
  while (!old_gate.is_inside) std::this_thread::yield();
  std::thread setter([&] {
    set_log(wait_inside, ASR_LOG_WARNING, &new_gate);
    is_set = true;
  });
  // Goes to the new receiver, whose level lets it pass, once that is set, although set_log has not returned.
  std::thread new_caller([&] {
    while (!new_gate.is_inside) log(ASR_LOG_WARNING, "to the new one");
  });
  while (!new_gate.is_inside) std::this_thread::yield();
  EXPECT_FALSE(is_set);
  old_gate.may_go = true;
  setter.join();
  EXPECT_TRUE(is_set);
  old_caller.join();
  new_gate.may_go = true;
  new_caller.join();
  set_log(nullptr, ASR_LOG_ERROR, nullptr);
}

TEST(Log, ReceiversChangeWhileThreadsLog) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!is_over) log(ASR_LOG_INFO, "%d", 1);
    });
  }
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> n{0};
    set_log(count, ASR_LOG_DEBUG, &n);
    while (i % 20 == 0 && n == 0) std::this_thread::yield();
    set_log(nullptr, ASR_LOG_ERROR, nullptr);
    const int n_before = n;
    std::this_thread::yield();
    EXPECT_EQ(n, n_before) << "called after set_log had returned";
  }
  is_over = true;
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace asr
