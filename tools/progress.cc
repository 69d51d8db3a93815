// SPDX-License-Identifier: Apache-2.0
#include "tools/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "core/base/printable.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

using std::chrono::milliseconds;

constexpr auto kRedrawn = milliseconds(200);
constexpr const char *kErase = "\r\033[K";

bool quiet = false;

bool can_redraw_a_line() {
  const char *kind = getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && strcmp(kind, "dumb") != 0;
}

// Cuts the line to the terminal's width between UTF-8 characters, since a wrapped line could not be erased.
std::string cut_to_terminal(std::string line) {
  winsize size{};
  const size_t n_columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  if (line.size() < n_columns) return line;
  size_t end = n_columns - 1;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  line.resize(end);
  return line;
}

}  // namespace

void add_quiet(Command app) { app.flag("--quiet", quiet, "Show no progress line"); }

Progress::Progress(std::string what) : what_(std::move(what)), shown_(!quiet && can_redraw_a_line()), begin_s_(wall_seconds()) {
  if (!shown_) return;
  try {
    thread_ = std::thread([this] { draw_repeatedly(); });
  } catch (const std::system_error &) {  // the work goes on without progress
    shown_ = false;
  }
}

Progress::~Progress() {
  if (!shown_) return;
  hide();
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
  thread_.join();
}

void Progress::update(double fraction, std::string detail) {
  if (!shown_) return;
  std::lock_guard lock(mutex_);
  fraction_ = fraction;
  detail_ = printable(detail);
}

void Progress::hide() {
  std::lock_guard lock(mutex_);
  if (!drawn_) return;
  fputs(kErase, stderr);
  drawn_ = false;
}

void Progress::draw_repeatedly() {
  std::unique_lock lock(mutex_);
  while (!ended_changed_.wait_for(lock, kRedrawn, [this] { return ended_; })) {
    try {
      fputs((kErase + cut_to_terminal(line())).c_str(), stderr);
      drawn_ = true;
    } catch (const std::bad_alloc &) {  // drawn again later
    }
  }
}

std::string Progress::line() const {
  const std::string done = fraction_ < 0 ? "" : format(" %3.0f %%", 100 * std::min(fraction_, 1.0));
  return what_ + done + "  " + detail_ + "  (" + clock_time(wall_seconds() - begin_s_) + ")";
}

std::string clock_time(double seconds) {
  const auto s = static_cast<unsigned long long>(std::max(seconds, 0.0));
  return s < 3600 ? format("%llu:%02llu", s / 60, s % 60) : format("%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace asr::tool
