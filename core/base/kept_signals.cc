// SPDX-License-Identifier: Apache-2.0
#include "core/base/kept_signals.h"

#include <pthread.h>

#include <initializer_list>

namespace asr {
namespace {

bool same_handler(const struct sigaction &a, const struct sigaction &b) {
  const auto address = [](const struct sigaction &action) {
    return (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<void *>(action.sa_sigaction)
                                               : reinterpret_cast<void *>(action.sa_handler);
  };
  return address(a) == address(b);
}

}  // namespace

SignalsBlocked::SignalsBlocked() noexcept {
  sigset_t all;
  sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) sigdelset(&all, own);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

SignalsKept::SignalsKept() noexcept : handlers_{}, known_{}, stack_{} {
  for (int signal = 1; signal <= kMaxSignals; ++signal) known_[signal] = sigaction(signal, nullptr, &handlers_[signal]) == 0;
  sigaltstack(nullptr, &stack_);
}

SignalsKept::~SignalsKept() {
  for (int signal = 1; signal <= kMaxSignals; ++signal) {
    struct sigaction now {
    }, replaced{};
    if (!known_[signal] || sigaction(signal, nullptr, &now) != 0 || same_handler(now, handlers_[signal])) continue;
    sigaction(signal, &handlers_[signal], &replaced);
    if (!same_handler(replaced, now)) sigaction(signal, &replaced, nullptr);  // the program's, of this very moment
  }
  stack_t stack{};
  if (sigaltstack(nullptr, &stack) == 0 && stack.ss_sp != stack_.ss_sp) sigaltstack(&stack_, nullptr);
}

}  // namespace asr
