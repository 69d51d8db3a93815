// SPDX-License-Identifier: Apache-2.0
// An open file descriptor with an owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace asr {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor &&other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  int get() const { return value_; }  // negative: none

 private:
  int value_ = -1;
};

}  // namespace asr
