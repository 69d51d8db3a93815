// SPDX-License-Identifier: Apache-2.0
// Signals belong to the program. SignalsBlocked is for starting threads, which then take none of its signals. SignalsKept is
// for calls of drivers, which may install handlers of their own.
#pragma once

#include <csignal>

namespace asr {

// Blocks signals of the calling thread while it exists; a thread that is started meanwhile inherits that for its life.
// Otherwise the system could pass a signal that the program's threads block, to wait for it by sigwait or signalfd, to a thread
// of ours, where its default action ends the process. Signals of faults and of profilers (SIGPROF) stay: they are a thread's
// own.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;

 private:
  sigset_t before_;
};

// Puts back all signal handlers, and the calling thread's alternate signal stack, as they were when it was made. Handlers
// belong to the whole process: one that another thread of the program installs meanwhile is put back, too, unless that happens
// at the very moment of putting back. So this should exist for short calls only.
class SignalsKept {
 public:
  SignalsKept() noexcept;
  ~SignalsKept();
  SignalsKept(const SignalsKept &) = delete;
  SignalsKept &operator=(const SignalsKept &) = delete;

 private:
  static constexpr int kMaxSignals = 64;
  struct sigaction handlers_[kMaxSignals + 1];
  bool known_[kMaxSignals + 1];  // the C library keeps some signals to itself
  stack_t stack_;
};

}  // namespace asr
