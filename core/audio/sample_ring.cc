// SPDX-License-Identifier: Apache-2.0
#include "core/audio/sample_ring.h"

#include <algorithm>

namespace asr {

void SampleRing::push(const float *values, size_t n) {
  if (size_ + n > ring_.size()) {
    size_t capacity = std::max<size_t>(1024, ring_.size());
    while (capacity < size_ + n) capacity *= 2;
    std::vector<float> larger(capacity);
    const size_t n_kept = pop(larger.data(), size_);
    ring_ = std::move(larger);
    begin_ = 0;
    size_ = n_kept;
  }
  if (n == 0) return;
  const size_t at = (begin_ + size_) & (ring_.size() - 1);
  const size_t n_first = std::min(n, ring_.size() - at);
  std::copy_n(values, n_first, ring_.begin() + static_cast<ptrdiff_t>(at));
  std::copy_n(values + n_first, n - n_first, ring_.begin());
  size_ += n;
}

size_t SampleRing::pop(float *values, size_t n) {
  n = std::min(n, size_);
  if (n == 0) return 0;
  const size_t n_first = std::min(n, ring_.size() - begin_);
  std::copy_n(ring_.begin() + static_cast<ptrdiff_t>(begin_), n_first, values);
  std::copy_n(ring_.begin(), n - n_first, values + n_first);
  begin_ = (begin_ + n) & (ring_.size() - 1);
  size_ -= n;
  return n;
}

}  // namespace asr
