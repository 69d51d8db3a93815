// SPDX-License-Identifier: Apache-2.0
// Tests that signals stay the program's: handlers and stacks that foreign code changes, and threads that take no signals.
#include "core/base/kept_signals.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>
#include <vector>

#include "core/base/begun_thread.h"

namespace asr {
namespace {

void ours(int) {}
void theirs(int) {}
void theirs_with_info(int, siginfo_t *, void *) {}

struct sigaction handler_of(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action;
}

void set_handler(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
}

TEST(SignalsKept, PutsBackEveryHandler) {
  set_handler(SIGUSR1, ours, SA_RESTART);
  set_handler(SIGRTMIN + 3, SIG_IGN);
  {
    const SignalsKept kept;
    for (const int signal : {SIGUSR1, SIGUSR2, SIGRTMAX, SIGRTMIN + 3}) set_handler(signal, theirs);
    struct sigaction with_info {};
    with_info.sa_sigaction = theirs_with_info;
    with_info.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ASSERT_EQ(sigaction(SIGALRM, &with_info, nullptr), 0);
  }
  EXPECT_EQ(handler_of(SIGUSR1).sa_handler, &ours);
  EXPECT_NE(handler_of(SIGUSR1).sa_flags & SA_RESTART, 0);
  EXPECT_EQ(handler_of(SIGUSR2).sa_handler, SIG_DFL);
  EXPECT_EQ(handler_of(SIGALRM).sa_handler, SIG_DFL);
  EXPECT_EQ(handler_of(SIGALRM).sa_flags & SA_SIGINFO, 0);
  EXPECT_EQ(handler_of(SIGRTMAX).sa_handler, SIG_DFL);
  EXPECT_EQ(handler_of(SIGRTMIN + 3).sa_handler, SIG_IGN);
  set_handler(SIGUSR1, SIG_DFL);
  set_handler(SIGRTMIN + 3, SIG_DFL);
}

TEST(SignalsKept, PutsBackTheStack) {
  std::thread([] {  // a thread of its own, whose stack nobody else has changed
    stack_t before{}, after{};
    sigaltstack(nullptr, &before);
    std::vector<char> memory(65536);
    {
      const SignalsKept kept;
      stack_t stack{};
      stack.ss_sp = memory.data();
      stack.ss_size = memory.size();
      ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
    }
    sigaltstack(nullptr, &after);
    EXPECT_EQ(after.ss_flags, before.ss_flags);
    EXPECT_EQ(after.ss_sp, before.ss_sp);
  })
      .join();
}

// A signal of the process must not end on a thread of the library, where its default action would end the process.
TEST(QuietThread, TakesNoSignalsOfTheProgram) {
  sigset_t before, inside, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  quiet_thread([&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); }).join();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, SIGRTMIN}) {
    EXPECT_EQ(sigismember(&inside, signal), 1) << signal;
  }
  for (const int signal : {SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGPROF}) EXPECT_EQ(sigismember(&inside, signal), 0) << signal;
  for (int signal = 1; signal < SIGRTMAX; ++signal) EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal));
}

}  // namespace
}  // namespace asr
