// SPDX-License-Identifier: Apache-2.0
// The file of `senone recognize --hyp` has a line "words (id)" per utterance. With --resume it is also a journal: lines are
// appended as results come, and utterances with a line are not recognised again.
#pragma once

#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/base/file.h"
#include "tools/recognition.h"

namespace asr::tool {

// Throws if an id could not be read back from its line.
void check_hyp_id(const std::string &id);

// Writes the lines of all results without an error; the file appears complete or not at all.
void write_hyp(const std::deque<Recognition> &results, OutputFile *file);

class HypJournal {
 public:
  // Counts the lines of an older file and drops a truncated last one. Refuses files with other content, and files that another
  // journal is writing.
  explicit HypJournal(const std::string &path);

  // Returns true once for every line of `id` in the older file.
  bool takes(const std::string &id);
  bool has(const std::string &id) const { return n_lines_of_.count(id) > 0; }  // until takes() is called
  void append(const Recognition &result);                                      // one line, written at once
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
