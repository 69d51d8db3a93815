// SPDX-License-Identifier: Apache-2.0
// ArchiveReader reads Kaldi's archives of features, log-likelihoods and CMVN statistics. They are "ark:FILE" (consecutive
// entries) and "scp:FILE" (lines "key FILE:offset" that point into archives, with optional row ranges "[first:last]"). The
// importer and tools with feature input use it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builder/import/kaldi_io.h"

namespace asr::kaldi {

class ArchiveReader {
 public:
  // Throws asr::Error unless `specifier` is "ark:FILE" or "scp:FILE" of a file that can be opened. If a FILE in a list is not
  // found as written, its base name is looked for in the list's own directory.
  explicit ArchiveReader(const std::string &specifier);
  ~ArchiveReader();

  // Reads the next entry into `key` and `matrix`; false at the end. T: float or double.
  template <typename T>
  bool next(std::string *key, Matrix<T> *matrix);

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

// Reads all entries, in the order of the archive.
template <typename T>
std::vector<std::pair<std::string, Matrix<T>>> read_archive(const std::string &specifier);

}  // namespace asr::kaldi
