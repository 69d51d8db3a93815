// SPDX-License-Identifier: Apache-2.0
// Compiled kernels in a directory of the user's, one file each: $XDG_CACHE_HOME/senone, else ~/.cache/senone. A file that is
// damaged, cut short or of another program counts as absent and is replaced; where nothing can be written nothing is kept.
// Several processes may read and write at once: a file appears under its name when it is complete.
#pragma once

#include <string>

namespace asr::ocl {

class ProgramCache {
 public:
  ProgramCache();                               // the user's directory
  explicit ProgramCache(std::string directory)  // "" keeps nothing
      : directory_(std::move(directory)) {}

  std::string load(const std::string &key) const;  // "" if it is not there
  void store(const std::string &key, const std::string &binary) const;
  std::string path(const std::string &key) const;

 private:
  std::string directory_;
};

}  // namespace asr::ocl
