// SPDX-License-Identifier: Apache-2.0
#include "core/audio/sample_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/audio/g711.h"
#include "core/base/error.h"

namespace asr {
namespace {

constexpr float kFullScale = 32768;

struct Int16 {
  float operator()(int16_t sample) const { return sample; }
};
struct Float {
  float operator()(float sample) const { return sample * kFullScale; }
};
struct Ulaw {
  float operator()(uint8_t sample) const { return g711::kUlaw[sample]; }
};
struct Alaw {
  float operator()(uint8_t sample) const { return g711::kAlaw[sample]; }
};

template <typename Sample, typename Scaled>
void to_mono(const SampleFormat &format, const Sample *samples, size_t n, Scaled scaled, float *mono) {
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

std::string fault_of_rows(const float *rows, size_t n, size_t row_length, bool are_loglikes, uint64_t first_frame) {
  if (all_finite(rows, n * row_length)) return "";
  for (size_t row = 0; row < n; ++row) {
    const float *const begin = rows + row * row_length, *const end = begin + row_length;
    const auto frame = static_cast<unsigned long long>(first_frame + row);
    const auto is_closed = [](float value) { return value == -std::numeric_limits<float>::infinity(); };
    const auto is_usable = [&](float value) { return std::isfinite(value) || (are_loglikes && is_closed(value)); };
    if (const float *const bad = std::find_if_not(begin, end, is_usable); bad != end) {
      return format("frame %llu: value %td is %s", frame, bad - begin, std::isnan(*bad) ? "not a number" : "infinite");
    }
    if (row_length > 0 && std::all_of(begin, end, is_closed)) {
      return format("frame %llu: all log-likelihoods are -inf; some state must be possible in every frame", frame);
    }
  }
  return "";
}

void to_mono(const SampleFormat &format, const void *samples, size_t n, float *mono) {
  switch (format.type) {
    case SampleType::kInt16:
      return to_mono(format, static_cast<const int16_t *>(samples), n, Int16{}, mono);
    case SampleType::kFloat:
      return to_mono(format, static_cast<const float *>(samples), n, Float{}, mono);
    case SampleType::kUlaw:
      return to_mono(format, static_cast<const uint8_t *>(samples), n, Ulaw{}, mono);
    case SampleType::kAlaw:
      return to_mono(format, static_cast<const uint8_t *>(samples), n, Alaw{}, mono);
  }
}

}  // namespace asr
