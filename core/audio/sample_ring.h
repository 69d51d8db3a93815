// SPDX-License-Identifier: Apache-2.0
// SampleRing queues the floats fed to a stream until they are processed. The ring grows when it is full.
#pragma once

#include <cstddef>
#include <vector>

namespace asr {

class SampleRing {
 public:
  size_t size() const { return size_; }
  void push(const float *values, size_t n);
  size_t pop(float *values, size_t n);  // takes at most n; returns the number taken

 private:
  std::vector<float> ring_;  // its size is 0 or a power of two
  size_t begin_ = 0, size_ = 0;
};

}  // namespace asr
