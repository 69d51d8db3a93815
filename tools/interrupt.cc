// SPDX-License-Identifier: Apache-2.0
// end_cleanly_on_signals(): a thread waits for the signals, which all other threads block. So it is free of the restrictions of
// signal handlers, and commands need no checks for interruption.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "core/base/file.h"
#include "tools/progress.h"

namespace asr::tool {
namespace {

// Waits for a result that is being printed, but not for a reader of stdout that has stopped reading.
void let_stdout_finish() {
  for (int i = 0; i < 100 && ftrylockfile(stdout) != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

// A parent such as nohup ignores signals for its children.
bool is_ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Bypasses stderr, which another thread may have locked. Writes only if that does not block, for the reader of a full pipe.
void say(const char *text) {
  pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
  if (poll(&standard_error, 1, 0) != 1 || (standard_error.revents & POLLOUT) == 0) return;
  const char *const erase_line = isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "";
  char line[128];
  const int n = snprintf(line, sizeof(line), "%ssenone: %s\n", erase_line, text);
  [[maybe_unused]] const ssize_t n_written = write(STDERR_FILENO, line, static_cast<size_t>(n));
}

std::mutex input_mutex;
int input_end = -1;  // of the live input, under the mutex; -1: none, or it was ended already

// Returns true if the signal has ended a live input.
bool end_input(int number) {
  if (number != SIGINT && number != SIGTERM) return false;
  const std::lock_guard lock(input_mutex);
  if (input_end < 0) return false;
  const uint64_t one = 1;
  const bool is_written = write(input_end, &one, sizeof(one)) == sizeof(one);
  input_end = -1;
  if (is_written) say("the input is taken for ended; the words under way follow, a second signal ends at once");
  return is_written;
}

// The system sends SIGPIPE only to the thread that wrote to a pipe without a reader. That thread forwards it as this signal of
// the process, and waits for its end.
const int kPipeSignal = SIGRTMIN;
[[noreturn]] void pass_on_pipe_signal(int) {
  kill(getpid(), kPipeSignal);
  for (;;) pause();
}

void end_on_signal(sigset_t signals) {
  sigset_t of_pipes;
  sigemptyset(&of_pipes);
  sigaddset(&of_pipes, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &of_pipes, nullptr);  // stderr may lack a reader, too
  int number = 0;
  do {
    if (sigwait(&signals, &number) != 0) return;
  } while (end_input(number));
  try {
    remove_unfinished_outputs();
  } catch (const std::bad_alloc &) {  // some files stay; the process still ends
  }
  if (number == kPipeSignal) {
    number = SIGPIPE;
    sigaddset(&signals, SIGPIPE);
  } else {
    let_stdout_finish();
    say("interrupted");
  }
  signal(number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  kill(getpid(), number);
  _exit(128 + number);
}

}  // namespace

InputEnd::InputEnd() : signalled_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const std::lock_guard lock(input_mutex);
  input_end = signalled_.get();
}

InputEnd::~InputEnd() {
  const std::lock_guard lock(input_mutex);
  input_end = -1;
}

void end_cleanly_on_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(number)) sigaddset(&signals, number);
  }
  sigaddset(&signals, kPipeSignal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    std::thread(end_on_signal, signals).detach();
    if (!is_ignored(SIGPIPE)) signal(SIGPIPE, pass_on_pipe_signal);
  } catch (const std::system_error &) {
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // without the thread, signals have their default effects
  }
}

}  // namespace asr::tool
