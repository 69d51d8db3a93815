// SPDX-License-Identifier: Apache-2.0
// A file read whole into memory that nobody can change or cut off, one copy for all who want the same file: the engines of a
// process, and the processes of a user. The reader of graph.bin uses it; docs/graph-file.md says why a mapping of the file
// itself will not do. A copy that someone else made can be held in the same way, but is not shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/file.h"

namespace asr {

class SharedPages;

// An empty file has data() == nullptr and size() == 0.
class SharedCopy {
 public:
  explicit SharedCopy(const std::string &path);
  explicit SharedCopy(FileCopy copy);
  const uint8_t *data() const;
  size_t size() const;
  void release() { pages_.reset(); }  // the object is empty then

  // Whether someone in this process has checked what the copy holds, and said so.
  bool is_checked() const;
  void set_checked() const;

 private:
  std::shared_ptr<const SharedPages> pages_;
};

}  // namespace asr
