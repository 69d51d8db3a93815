// SPDX-License-Identifier: Apache-2.0
// Compiled kernels in a directory of the user's, one file each: $XDG_CACHE_HOME/senone, else ~/.cache/senone. A file that is
// damaged, cut short or of another program counts as absent and is replaced; where nothing can be written nothing is kept.
// Several processes may read and write at once: a file appears under its name when it is complete.
//
// Kernels are code, so only the effective user's own are loaded: directory and files must belong to that user, and nobody else
// may write to them (core/base/user_directory.h). Under sudo, HOME may be another user's: then nothing is read, written or
// made.
#pragma once

#include <string>

namespace asr::gpu {

class ProgramCache {
 public:
  ProgramCache();                                 // below the user's directory
  explicit ProgramCache(const std::string &base)  // uses base/senone; "" keeps nothing
      : base_(base) {}

  std::string load(const std::string &key) const;  // "" if it is not there
  void store(const std::string &key, const std::string &binary) const;
  std::string path(const std::string &key) const;

 private:
  std::string base_;
};

}  // namespace asr::gpu
