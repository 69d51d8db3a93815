// SPDX-License-Identifier: Apache-2.0
// Sample-rate conversion of a mono signal that arrives in pieces (soxr, high quality).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace asr {

// The output depends only on the signal, not on how it was cut: soxr is given blocks of one size. n input samples give
// round(n * out / in) output samples by the end, without delay: output sample 0 is the instant of input sample 0.
class Resampler {
 public:
  Resampler(double in_hz, double out_hz);
  ~Resampler();
  Resampler(Resampler &&) noexcept;
  Resampler &operator=(Resampler &&) noexcept;

  void feed(const float *samples, size_t n, std::vector<float> *out);  // appends what is ready to *out
  void finish(std::vector<float> *out);                                // appends the rest; nothing may be fed after it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace asr
