// SPDX-License-Identifier: Apache-2.0
#include "tools/hyp_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "core/base/error.h"
#include "tools/word_errors.h"

namespace asr::tool {
namespace {

// Returns the id of a line "words (id)"; empty for other lines.
std::string id_of(const std::string &line) {
  const size_t open = id_in_parentheses(line);
  return open == std::string::npos ? "" : line.substr(open + 1, line.size() - open - 2);
}

}  // namespace

void check_hyp_id(const std::string &id) {
  const bool has_control = std::any_of(id.begin(), id.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
  if (!id.empty() && !has_control && id_of("(" + id + ")") == id) return;
  fail(ASR_INVALID_ARGUMENT,
       "recognize: \"%s\" cannot be the id in a line \"words (id)\": it is empty, or has a control character or a single "
       "parenthesis; "
       "rename it, or give it another id in --list",
       id.c_str());
}

void write_hyp(const std::deque<Recognition> &results, OutputFile *file) {
  for (const Recognition &result : results) {
    if (result.error.empty()) file->write(to_hyp(result));
  }
  file->commit();
}

HypJournal::HypJournal(const std::string &path) : path_(path) {
  const FileAt place = output_place(path);
  struct stat status {};
  if (fstatat(place.directory(), place.name(), &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(status.st_mode) &&
      !S_ISDIR(status.st_mode)) {  // opening a pipe that nobody reads would wait
    fail(ASR_IO, "%s: is no file, so --resume cannot read it again; name a file", path.c_str());
  }
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Descriptor opened(openat(place.directory(), place.name(), kFlags, 0666));
  file_.reset(opened.get() < 0 ? nullptr : fdopen(opened.get(), "a"));
  if (file_ == nullptr) fail(ASR_IO, "%s: cannot be written: %s; name another file", path.c_str(), strerror(errno));
  opened.release();
  if (flock(fileno(file_.get()), LOCK_EX | LOCK_NB) != 0) {
    fail(ASR_IO, "%s: another run writes to it; wait for its end, or name another file", path.c_str());
  }
  read_older();
}

void HypJournal::read_older() {
  std::string text = read_file(InputFile(Descriptor(dup(fileno(file_.get()))), path_));
  const size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  std::istringstream lines(text.substr(0, whole));
  for (std::string line; std::getline(lines, line); ++n_older_) {
    const std::string id = id_of(line);
    if (id.empty()) {
      fail(ASR_BAD_FILE, "%s: line %zu is not \"words (id)\"; remove that line, or name another file", path_.c_str(),
           n_older_ + 1);
    }
    ++n_lines_of_[id];
  }
  if (whole < text.size()) take_last(text.substr(whole));
}

// Takes the last line if it lacks its line end: complete otherwise, or truncated. If no line has the form, the file may be
// anything: it is refused and stays unchanged.
void HypJournal::take_last(const std::string &line) {
  const std::string id = id_of(line);
  if (!id.empty()) {
    ++n_lines_of_[id];
    ++n_older_;
    if (fputc('\n', file_.get()) == EOF || fflush(file_.get()) != 0) {
      fail_write();
    }
  } else if (n_older_ == 0) {
    fail(ASR_BAD_FILE, "%s: no line in it is \"words (id)\"; name another file", path_.c_str());
  } else {
    struct stat status {};
    const int file = fileno(file_.get());
    if (fstat(file, &status) != 0 || ftruncate(file, status.st_size - static_cast<off_t>(line.size())) != 0) fail_write();
  }
}

void HypJournal::fail_write() const {
  fail(ASR_IO, "%s: cannot be written: %s; mend that, and go on with --resume", path_.c_str(), strerror(errno));
}

bool HypJournal::takes(const std::string &id) {
  const auto found = n_lines_of_.find(id);
  if (found == n_lines_of_.end() || found->second == 0) return false;
  --found->second;
  return true;
}

void HypJournal::append(const Recognition &result) {
  if (!result.error.empty()) return;
  if (fputs(to_hyp(result).c_str(), file_.get()) < 0 || fflush(file_.get()) != 0) {
    fail_write();
  }
}

}  // namespace asr::tool
