// SPDX-License-Identifier: Apache-2.0
// Kaldi's archives of features, log-likelihoods and CMVN statistics: "ark:FILE" (entries one after another) and "scp:FILE"
// (lines "key FILE:offset" that point into archives, with row ranges "[first:last]" if wanted). Used by the importer and by
// tools that take features instead of audio.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "builder/import/kaldi_io.h"

namespace asr::kaldi {

class ArchiveReader {
 public:
  // Throws asr::Error unless `specifier` is "ark:FILE" or "scp:FILE" of a file that can be opened. A FILE named in a list
  // that is not found as written is also looked for, by its last name, in the list's own directory.
  explicit ArchiveReader(const std::string &specifier);
  ~ArchiveReader();

  // The next entry into `key` and `matrix`; false at the end. T: float or double.
  template <typename T>
  bool next(std::string *key, Matrix<T> *matrix);

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

// All entries, in the order of the archive.
template <typename T>
std::vector<std::pair<std::string, Matrix<T>>> read_archive(const std::string &specifier);

}  // namespace asr::kaldi
