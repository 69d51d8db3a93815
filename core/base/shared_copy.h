// SPDX-License-Identifier: Apache-2.0
// SharedCopy reads a file whole into immutable memory and checks it once for all its users. These are the engines of a
// process, and the processes of a user. The reader of graph.bin uses it. docs/graph-file.md explains why a mapping of
// the file itself is unsafe.
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
  // Throws to refuse the content of the file.
  using Check = std::function<void(const uint8_t *data, size_t size)>;

  // Makes a private copy.
  SharedCopy(const InputFile &file, const Check &check) : SharedCopy(FileCopy(file), check) {}
  SharedCopy(FileCopy copy, const Check &check);
  // Makes or joins a shared copy. `content` identifies the accepted content, for example the kind of file and a checksum. The
  // same file with the same content gives memory that passed the check, here or in another process of the user with the same
  // build of this library. A file that has not changed since it passed the whole check in an earlier process only gets
  // `recheck`, which compares the checksum.
  SharedCopy(const InputFile &file, const std::string &content, const Check &check, const Check &recheck);

  const uint8_t *data() const;
  size_t size() const;
  void release() { pages_.reset(); }  // the object is empty afterwards

 private:
  std::shared_ptr<const SharedPages> pages_;
};

}  // namespace asr
