// SPDX-License-Identifier: Apache-2.0
// First and second moments of rows, from which clusters of states get one Gaussian with a diagonal covariance (T11).
#pragma once

#include <cstddef>
#include <vector>

namespace asr::train {

struct RowMoments {
  double frames = 0;
  std::vector<double> sum, square;  // [n_dims]; empty without rows

  void add(const float *row, size_t n_dims);
  void add(const RowMoments &other);

  // Returns the rows' negative log-likelihood under their own Gaussian, whose variances are at least `floor`, without the
  // constant ln 2 pi / 2 of each value.
  double cost(const std::vector<double> &floor) const;
};

// Returns how much likelihood is lost when two sets of rows get one Gaussian instead of two.
double cost_of_merging(const RowMoments &a, const RowMoments &b, const std::vector<double> &floor);

}  // namespace asr::train
