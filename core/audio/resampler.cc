// SPDX-License-Identifier: Apache-2.0
#include "core/audio/resampler.h"

#include <soxr.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace asr {

struct Resampler::State {
  double ratio;               // output samples for one input sample
  soxr_t soxr = nullptr;      // nullptr: the rates are equal
  std::vector<float> block;   // input not yet given to soxr
  size_t block_size;          // 10 ms of input
  std::vector<float> output;  // what one call of soxr may give

  State(double in_hz, double out_hz) : ratio(out_hz / in_hz), block_size(std::max<size_t>(1, std::lround(in_hz / 100))) {
    if (in_hz == out_hz) return;
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);  // one thread
    soxr_error_t error = nullptr;
    soxr = soxr_create(in_hz, out_hz, 1, &error, nullptr, &quality, &runtime);
    if (error != nullptr) fail(ASR_UNSUPPORTED, "resampling from %g Hz to %g Hz: %s; feed another rate", in_hz, out_hz, error);
    block.reserve(block_size);
    output.resize(static_cast<size_t>(std::ceil(static_cast<double>(block_size) * ratio)) + 4096);
  }
  ~State() { soxr_delete(soxr); }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  // input == nullptr ends the signal.
  void process(const float *input, size_t n, std::vector<float> *out) {
    for (;;) {
      size_t n_used = 0, n_made = 0;
      const soxr_error_t error = soxr_process(soxr, input, n, &n_used, output.data(), output.size(), &n_made);
      if (error != nullptr) fail(ASR_INTERNAL, "resampling: %s; please report it", error);
      out->insert(out->end(), output.begin(), output.begin() + static_cast<ptrdiff_t>(n_made));
      if (input != nullptr) {
        input += n_used;
        n -= n_used;
      }
      if (n == 0 && n_made < output.size()) return;
    }
  }
};

Resampler::Resampler(double in_hz, double out_hz) : state_(std::make_unique<State>(in_hz, out_hz)) {}
Resampler::~Resampler() = default;
Resampler::Resampler(Resampler &&) noexcept = default;
Resampler &Resampler::operator=(Resampler &&) noexcept = default;

void Resampler::feed(const float *samples, size_t n, std::vector<float> *out) {
  State &s = *state_;
  if (s.soxr == nullptr) {
    out->insert(out->end(), samples, samples + n);
    return;
  }
  while (n > 0) {
    const size_t n_taken = std::min(n, s.block_size - s.block.size());
    s.block.insert(s.block.end(), samples, samples + n_taken);
    samples += n_taken;
    n -= n_taken;
    if (s.block.size() < s.block_size) return;
    s.process(s.block.data(), s.block.size(), out);
    s.block.clear();
  }
}

void Resampler::finish(std::vector<float> *out) {
  State &s = *state_;
  if (s.soxr == nullptr) return;
  if (!s.block.empty()) s.process(s.block.data(), s.block.size(), out);
  s.block.clear();
  s.process(nullptr, 0, out);
}

}  // namespace asr
