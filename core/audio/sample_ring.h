// SPDX-License-Identifier: Apache-2.0
// A queue of floats in a ring that grows when it is full: what was fed to a stream and not yet worked on.
#pragma once

#include <cstddef>
#include <vector>

namespace asr {

class SampleRing {
 public:
  size_t size() const { return size_; }
  void push(const float *values, size_t n);
  size_t pop(float *values, size_t n);  // takes at most n; returns how many

 private:
  std::vector<float> ring_;  // its size is 0 or a power of two
  size_t begin_ = 0, size_ = 0;
};

}  // namespace asr
