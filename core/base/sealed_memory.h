// SPDX-License-Identifier: Apache-2.0
// Memory that nobody can change or cut off: a memfd sealed against writing and resizing. Other processes of the user may map it
// too. SharedCopy uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/descriptor.h"
#include "core/base/file.h"

namespace asr {

class SealedMemory {
 public:
  // Copies a file that is not empty. Nothing where the system has no such memory, or would end the process for making so large
  // a file (SIGXFSZ, `ulimit -f`), or where the file became shorter.
  static std::optional<SealedMemory> copy_of(const InputFile &file, const std::string &name);
  // Maps the memory that a link in /proc leads to. Nothing unless that is sealed memory of this name and size that this user
  // made: the link may be stale and lead to anything by now, so that nothing else is ever opened.
  static std::optional<SealedMemory> behind(const std::string &link, const std::string &name, size_t size);

  SealedMemory(SealedMemory &&other) noexcept;
  SealedMemory &operator=(SealedMemory &&) = delete;
  ~SealedMemory();
  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }
  int descriptor() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
  const uint8_t *data_ = nullptr;
  size_t size_ = 0;

  SealedMemory(Descriptor descriptor, const uint8_t *data, size_t size);
  static std::optional<SealedMemory> map(Descriptor descriptor, size_t size);
};

// Whether a symbolic link leads to `target`. Takes no memory.
bool leads_to(const char *link, const std::string &target) noexcept;

}  // namespace asr
