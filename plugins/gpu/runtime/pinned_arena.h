// SPDX-License-Identifier: Apache-2.0
// PinnedArena gives out parts of a pinned buffer, from the front, for copies of many arrays that are under way together.
#pragma once

#include <cstddef>

#include "runtime/runtime.h"

namespace asr::gpu {

class PinnedArena {
 public:
  explicit PinnedArena(const Context &context) : memory_(context) {}

  // Takes back all parts and makes the buffer large enough for n_bytes.
  void begin(size_t n_bytes) {
    if (n_bytes > memory_.size()) memory_.reserve(2 * n_bytes);
    n_given_ = 0;
  }
  template <typename T>
  T *give(size_t n) {
    T *const part = reinterpret_cast<T *>(memory_.data() + n_given_);
    n_given_ += n_bytes_of<T>(n);
    return part;
  }
  template <typename T>
  static size_t n_bytes_of(size_t n) {
    return (n * sizeof(T) + 15) / 16 * 16;
  }

 private:
  Pinned<std::byte> memory_;
  size_t n_given_ = 0;
};

}  // namespace asr::gpu
