// SPDX-License-Identifier: Apache-2.0
// Resampler converts the sample rate of a mono signal that arrives in pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/audio/resample_filter.h"

namespace asr {

// The output depends only on the signal, not on the pieces. By the end, n input samples give round(n * out / in) output samples
// without delay: output sample 0 is at the instant of input sample 0.
class Resampler {
 public:
  explicit Resampler(std::shared_ptr<const ResampleFilter> filter);  // nullptr: the output is the input

  void feed(const float *samples, size_t n, std::vector<float> *out);  // appends finished samples to *out
  void finish(std::vector<float> *out);                                // appends the rest; nothing may be fed after it

 private:
  void make_sample(std::vector<float> *out);

  const std::shared_ptr<const ResampleFilter> filter_;
  std::vector<float> input_;  // leading silence and the signal, without the samples already used
  size_t begin_ = 0;          // start of the next output sample's window, relative to input_; may lie beyond its end
  uint64_t phase_ = 0;        // phase of that sample, for ResampleFilter::apply
};

}  // namespace asr
