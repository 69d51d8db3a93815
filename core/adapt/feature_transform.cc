// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/feature_transform.h"

#include <algorithm>
#include <limits>

namespace asr {

void FeatureTransform::apply(float *rows, size_t n_rows) const {
  if (n_dims == 0) return;
  std::vector<float> row(n_dims);
  for (float *at = rows; at != rows + n_rows * n_dims; at += n_dims) {
    for (uint32_t d = 0; d < n_dims; ++d) {
      const float *const a = matrix.data() + size_t{d} * (n_dims + 1);
      auto sum = static_cast<double>(a[n_dims]);
      for (uint32_t i = 0; i < n_dims; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(at[i]);
      constexpr double kMax = std::numeric_limits<float>::max();
      row[d] = static_cast<float>(std::clamp(sum, -kMax, kMax));
    }
    std::copy(row.begin(), row.end(), at);
  }
}

}  // namespace asr
