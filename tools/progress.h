// SPDX-License-Identifier: Apache-2.0
// The progress line of long commands, and their reaction to signals. The line is on stderr, drawn only if that is a terminal
// and --quiet is not given. It is redrawn in place several times a second and erased at the end.
#pragma once

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/descriptor.h"
#include "tools/command_line.h"

namespace asr::tool {

void add_quiet(Command app);  // --quiet: no progress line

// A command has at most one Progress at a time; any thread may update it. A separate thread draws it, so that the elapsed time
// advances during long steps without updates.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  bool is_shown() const { return shown_; }
  void update(double fraction, std::string detail);  // fraction: 0..1, negative if unknown
  void hide();                                       // call before printing; the next redraw shows the line again

 private:
  void draw_repeatedly();
  std::string line() const;

  const std::string what_;
  bool shown_;
  const double begin_s_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable ended_changed_;
  bool ended_ = false, drawn_ = false;
  double fraction_ = -1;
  std::string detail_;
  std::thread thread_;
};

std::string clock_time(double seconds);  // 1:02:03, or 2:03 under an hour

// Ends the process on SIGINT, SIGTERM, SIGHUP and SIGPIPE like the signal itself (shells see 130, 143, 129 and 141). It erases
// the progress line and removes unfinished outputs first. It acts at once, without waiting for other threads. Call it
// before starting threads.
void end_cleanly_on_signals();

// While one exists, the first SIGINT or SIGTERM ends a live input instead of the process; a second one acts as above.
class InputEnd {
 public:
  InputEnd();
  ~InputEnd();
  InputEnd(const InputEnd &) = delete;
  InputEnd &operator=(const InputEnd &) = delete;
  int descriptor() const { return signalled_.get(); }  // becomes readable when the input is to end

 private:
  Descriptor signalled_;
};

// Results are printed under this lock, so that a signal does not cut one in half.
class StdoutLock {
 public:
  StdoutLock() { flockfile(stdout); }
  ~StdoutLock() { funlockfile(stdout); }
  StdoutLock(const StdoutLock &) = delete;
  StdoutLock &operator=(const StdoutLock &) = delete;
};

}  // namespace asr::tool
