// SPDX-License-Identifier: Apache-2.0
// Loops over states are plain, without branches or calls, so that -O3 vectorises them; no result depends on the vectors' size.
#include "core/base/fused_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace asr {
namespace {

int32_t bits_of(float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float with_bits(int32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// e^x for x <= 0, at least e^-87; relative error 2e-7, and exactly 1 for 0. x = n ln 2 + r, then the series to r^7 / 7!.
inline float exp_nonpositive(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: a sum with it is rounded to an integer
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  x = x < -87.0f ? -87.0f : x;
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const int32_t exponent = bits_of(shifted) - bits_of(kRound);
  return p * with_bits((exponent + 127) * (1 << 23));
}

// ln x for normal x > 0; absolute error 3e-7, and exactly 0 for 1. x = 2^n m with m from sqrt(1/2) to sqrt(2), then the series
// of 2 artanh((m - 1) / (m + 1)).
inline float log_positive(float x) {
  constexpr int32_t kSqrtHalf = 0x3f3504f3;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  const int32_t bits = bits_of(x);
  const int32_t n = (bits - kSqrtHalf) >> 23;
  const float m = with_bits(bits - n * (1 << 23));
  const float z = (m - 1.0f) / (m + 1.0f), square = z * z;
  float p = 2.0f / 9;
  p = p * square + 2.0f / 7;
  p = p * square + 2.0f / 5;
  p = p * square + 2.0f / 3;
  p = p * square;
  const auto exponent = static_cast<float>(n);
  return exponent * kLn2High + ((p * z + 2.0f * z) + exponent * kLn2Low);
}

}  // namespace

void fuse_sum(const float *const *rows, const float *weights, size_t n_models, size_t n, float *out) {
  for (size_t m = 0; m < n_models; ++m) {
    const float *const row = rows[m];
    const float weight = weights[m];
    for (size_t s = 0; s < n; ++s) out[s] = m == 0 ? weight * row[s] : out[s] + weight * row[s];
  }
}

void fuse_max(const float *const *rows, const float *offsets, size_t n_models, size_t n, float *out) {
  std::fill_n(out, n, -std::numeric_limits<float>::infinity());
  for (size_t m = 0; m < n_models; ++m) {
    const float *const row = rows[m];
    const float offset = offsets[m];
    for (size_t s = 0; s < n; ++s) out[s] = row[s] + offset > out[s] ? row[s] + offset : out[s];
  }
}

// Relative to the largest term of each state, so that a sum is at least the largest weight.
void fuse_log_sum(const float *const *rows, const float *weights, const float *offsets, size_t n_models, size_t n,
                  float *scratch, float *out) {
  fuse_max(rows, offsets, n_models, n, out);
  std::fill_n(scratch, n, 0.0f);
  const float weight = *std::max_element(weights, weights + n_models);
  for (size_t m = 0; m < n_models; ++m) {
    const float *const row = rows[m];
    const float offset = offsets[m];
    for (size_t s = 0; s < n; ++s) {
      const float most = out[s] > kFusedLogZero ? out[s] : 0.0f;
      scratch[s] += weight * exp_nonpositive(row[s] + offset - most);
    }
  }
  for (size_t s = 0; s < n; ++s) {
    const float sum = log_positive(scratch[s]);
    out[s] = out[s] > kFusedLogZero ? out[s] + sum : out[s];
  }
}

}  // namespace asr
