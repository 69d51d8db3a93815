// SPDX-License-Identifier: Apache-2.0
// Loops over states are plain, without branches or calls, so that -O3 vectorises them; no result depends on the vectors' size.
#include "core/base/fused_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace asr {
namespace {

inline uint32_t as_uint(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace
}  // namespace asr

#define DEVICE static inline
#include "core/base/fused_series-inl.h"

namespace asr {

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
      scratch[s] += fused_exp(row[s] + offset - most);
    }
  }
  for (size_t s = 0; s < n; ++s) {
    const float sum = fused_log(weight * scratch[s]);
    out[s] = out[s] > kFusedLogZero ? out[s] + sum : out[s];
  }
}

// The sum is at least 1, so that the least value of the exponential, which -inf has, is nothing to it.
float sum_of_columns(const float *row, const uint32_t *columns, size_t n) {
  float best = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < n; ++i) best = row[columns[i]] > best ? row[columns[i]] : best;
  if (n < 2 || best == -std::numeric_limits<float>::infinity()) return best;
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += fused_exp(row[columns[i]] - best);
  return best + fused_log(sum);
}

}  // namespace asr
