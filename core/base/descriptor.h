// SPDX-License-Identifier: Apache-2.0
// Descriptor owns a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace asr {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}  // negative: no descriptor
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(Descriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }  // the caller closes it

 private:
  int number_ = -1;
};

}  // namespace asr
