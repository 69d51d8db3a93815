// SPDX-License-Identifier: Apache-2.0
// A file read whole into memory that nobody can change or cut off, and checked once, for all who want the same file: the
// engines of a process, and the processes of a user. The reader of graph.bin uses it; docs/graph-file.md says why a mapping of
// the file itself will not do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/file.h"

namespace asr {

class SharedPages;

// An empty file has data() == nullptr and size() == 0.
class SharedCopy {
 public:
  // Throws to refuse what the file holds.
  using Check = std::function<void(const uint8_t *data, size_t size)>;

  // A copy of its own.
  SharedCopy(const InputFile &file, const Check &check) : SharedCopy(FileCopy(file), check) {}
  SharedCopy(FileCopy copy, const Check &check);
  // One that may be shared. `content` stands for what the check accepts, such as a name for the check and a checksum that it
  // compares: whoever asks for the same file with the same content is given memory that passed it, here or in a process of the
  // same user.
  SharedCopy(const InputFile &file, const std::string &content, const Check &check);

  const uint8_t *data() const;
  size_t size() const;
  void release() { pages_.reset(); }  // the object is empty then

 private:
  std::shared_ptr<const SharedPages> pages_;
};

}  // namespace asr
