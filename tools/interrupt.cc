// SPDX-License-Identifier: Apache-2.0
// end_cleanly_on_signals(): a thread waits for the signals, which are blocked in all others. It may therefore do what a signal
// handler may not, and nothing that the command does needs to look whether it was interrupted.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <thread>

#include "core/base/file.h"
#include "tools/progress.h"

namespace asr::tool {
namespace {

// Waits for a result that is just being printed, but not for a reader of stdout that has stopped reading.
void let_stdout_finish() {
  for (int i = 0; i < 100 && ftrylockfile(stdout) != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

// A parent such as nohup ignores signals for its children.
bool is_ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void end_on_signal(sigset_t signals) {
  int number = 0;
  if (sigwait(&signals, &number) != 0) return;
  remove_unfinished_outputs();
  let_stdout_finish();
  fprintf(stderr, "%ssenone: interrupted\n", isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "");
  signal(number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  kill(getpid(), number);
  _exit(128 + number);
}

}  // namespace

void end_cleanly_on_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(number)) sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    std::thread(end_on_signal, signals).detach();
  } catch (const std::system_error &) {
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // without the thread, signals do what they always do
  }
}

}  // namespace asr::tool
