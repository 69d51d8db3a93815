// SPDX-License-Identifier: Apache-2.0
// Sample-rate conversion of a mono signal that arrives in pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/audio/resample_filter.h"

namespace asr {

// The output depends only on the signal, not on how it was cut. n input samples give round(n * out / in) output samples by the
// end, without delay: output sample 0 is the instant of input sample 0.
class Resampler {
 public:
  explicit Resampler(std::shared_ptr<const ResampleFilter> filter);  // nullptr: the output is the input

  void feed(const float *samples, size_t n, std::vector<float> *out);  // appends what is ready to *out
  void finish(std::vector<float> *out);                                // appends the rest; nothing may be fed after it

 private:
  void make_sample(std::vector<float> *out);

  const std::shared_ptr<const ResampleFilter> filter_;
  std::vector<float> input_;  // silence before the signal, and the signal; without what is used up
  size_t begin_ = 0;          // of the next output sample's window in input_, or in what is to come
  uint64_t phase_ = 0;        // of that sample: ResampleFilter::apply
};

}  // namespace asr
