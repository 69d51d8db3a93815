// SPDX-License-Identifier: Apache-2.0
// FeatureTransform maps feature rows by y = A x + b, for example to bring a speaker's rows closer to the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asr {

struct FeatureTransform {
  uint32_t n_dims = 0;        // 0: no transform, rows stay unchanged
  std::vector<float> matrix;  // [n_dims][n_dims + 1]: A, and b as its last column

  void apply(float *rows, size_t n_rows) const;  // in place, sums in double; finite rows stay finite
};

}  // namespace asr
