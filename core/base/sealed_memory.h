// SPDX-License-Identifier: Apache-2.0
// SealedMemory is a memfd sealed against writing and resizing, so that nobody can change or truncate it. Other processes of the
// user may map it too. SharedCopy uses it.
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
  // Copies a file that is not empty. Returns nothing if the system has no such memory or if the file became shorter. Also if
  // creating so large a file would end the process (SIGXFSZ, `ulimit -f`).
  static std::optional<SealedMemory> copy_of(const InputFile &file, const std::string &name);
  // Maps the memory behind the link `name` to a descriptor in /proc. Returns nothing unless that is sealed memory of this name
  // and size made by this user. The link may be stale and lead anywhere, so nothing else is ever opened.
  static std::optional<SealedMemory> behind(int directory, const std::string &name, size_t size);

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

// Returns true if a symbolic link leads to `target`. Allocates no memory.
bool leads_to(int directory, const char *link, const std::string &target) noexcept;

}  // namespace asr
