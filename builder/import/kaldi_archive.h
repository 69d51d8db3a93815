// SPDX-License-Identifier: Apache-2.0
// ArchiveReader reads Kaldi's archives of features, log-likelihoods and CMVN statistics. They are "ark:FILE" (consecutive
// entries) and "scp:FILE" (lines "key FILE:offset" that point into archives, or "key FILE" for a file of one matrix, each with
// an optional range "[first:last]" of rows or "[first:last,first:last]" of rows and columns). The importer and tools with
// feature input use it.
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

  // Reads the next entry into `key` and `matrix`; false at the end. T: float or double. Throws asr::Error for an entry that
  // cannot be read, with its place; `key` is its key, or empty if even that is damaged. The next call goes on with the entry
  // after it, or returns false if damage hides where that begins.
  template <typename T>
  bool next(std::string *key, Matrix<T> *matrix);

  // A message about the last entry that was read, such as that its range was cut; or empty.
  const std::string &warning() const;

  // Returns the place of the last entry of next(): "FILE:line" of a list, "FILE, entry 3" of an archive.
  std::string place() const;

  // Returns the keys of a list with their places, in its order; none for "ark:".
  std::vector<std::pair<std::string, std::string>> listed_keys() const;

  // Returns the archives that a list names, one after the other; none for "ark:". Lines that name none are left out.
  std::vector<std::string> listed_files() const;

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

// Reads all entries, in the order of the archive.
template <typename T>
std::vector<std::pair<std::string, Matrix<T>>> read_archive(const std::string &specifier);

}  // namespace asr::kaldi
