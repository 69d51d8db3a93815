// SPDX-License-Identifier: Apache-2.0
#include "core/audio/comfort_noise.h"

#include <cmath>

namespace asr {
namespace {

constexpr uint32_t kPeriod = 1u << 20;  // about a minute at 16 kHz

// Returns value n of white noise, uniform over -1..1 (the finalizer of MurmurHash3).
float noise(uint32_t n) {
  n ^= n >> 16;
  n *= 0x85ebca6bu;
  n ^= n >> 13;
  n *= 0xc2b2ae35u;
  n ^= n >> 16;
  return static_cast<float>(n >> 8) * (1.0f / (1 << 23)) - 1.0f;
}

}  // namespace

void ComfortNoise::add(float *samples, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (std::abs(samples[i]) >= kMinSound) {
      n_zeros_ = 0;
      continue;
    }
    if (++n_zeros_ <= kMinRun) continue;
    samples[i] = noise(n_zeros_);
    if (n_zeros_ == kMinRun + kPeriod) n_zeros_ = kMinRun;
  }
}

}  // namespace asr
