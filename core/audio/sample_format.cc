// SPDX-License-Identifier: Apache-2.0
#include "core/audio/sample_format.h"

#include <cmath>

namespace asr {
namespace {

constexpr float kFullScale = 32768;

float scaled(int16_t sample) { return sample; }
float scaled(float sample) { return sample * kFullScale; }

template <typename Sample>
void to_mono(const SampleFormat &format, const Sample *samples, size_t n, float *mono) {
  const size_t n_channels = format.n_channels;
  if (format.channel >= 0 || n_channels == 1) {
    const Sample *one = samples + (format.channel > 0 ? format.channel : 0);
    for (size_t i = 0; i < n; ++i) mono[i] = scaled(one[i * n_channels]);
    return;
  }
  const float weight = 1.0f / static_cast<float>(n_channels);
  for (size_t i = 0; i < n; ++i) {
    float sum = 0;
    for (size_t c = 0; c < n_channels; ++c) sum += scaled(samples[i * n_channels + c]);
    mono[i] = sum * weight;
  }
}

}  // namespace

bool all_finite(const float *values, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (!std::isfinite(values[i])) return false;
  }
  return true;
}

void to_mono(const SampleFormat &format, const void *samples, size_t n, float *mono) {
  if (format.type == SampleType::kInt16) {
    to_mono(format, static_cast<const int16_t *>(samples), n, mono);
  } else {
    to_mono(format, static_cast<const float *>(samples), n, mono);
  }
}

}  // namespace asr
