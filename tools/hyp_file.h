// SPDX-License-Identifier: Apache-2.0
// The file of `senone recognize --hyp`: a line "words (id)" for each utterance. With --resume it is also a journal: lines are
// appended as results come, and utterances that have a line already are not recognised again.
#pragma once

#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/base/file.h"
#include "tools/recognition.h"

namespace asr::tool {

// Throws where an id would not be found again in its line.
void check_hyp_id(const std::string &id);

// Writes the lines of all results that have no error; the file appears complete or not at all.
void write_hyp(const std::deque<Recognition> &results, OutputFile *file);

class HypJournal {
 public:
  // Counts the lines of an older file; a last one that was cut off is dropped. Files that have something else are refused, and
  // so are those that another journal writes to.
  explicit HypJournal(const std::string &path);

  // True once for every line that the older file has of `id`.
  bool takes(const std::string &id);
  void append(const Recognition &result);  // one line, at once
  size_t n_older() const { return n_older_; }

 private:
  void read_older();
  void take_last(const std::string &line);
  [[noreturn]] void fail_write() const;

  std::string path_;
  std::unordered_map<std::string, size_t> n_lines_of_;
  size_t n_older_ = 0;
  std::unique_ptr<FILE, int (*)(FILE *)> file_{nullptr, fclose};
};

}  // namespace asr::tool
