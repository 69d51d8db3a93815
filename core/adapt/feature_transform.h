// SPDX-License-Identifier: Apache-2.0
// An affine transform of feature rows, y = A x + b, such as one that brings a speaker's closer to the model's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asr {

struct FeatureTransform {
  uint32_t n_dims = 0;        // 0: none, rows stay as they are
  std::vector<float> matrix;  // [n_dims][n_dims + 1]: A, and b as its last column

  void apply(float *rows, size_t n_rows) const;  // in place, sums in double; finite rows stay finite
};

}  // namespace asr
