// SPDX-License-Identifier: Apache-2.0
// T1 and T2 of docs/equations.md in double: sums over rows that belong to one mixture, each row by its definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asr::reference {

struct StatisticsProblem {
  bool full_covariances = false, full_moments = false;
  std::vector<uint32_t> dims;       // features of a row that the Gaussians see: d of them
  std::vector<double> weights;      // [n_weight_rows][n_gaussians]
  std::vector<double> means;        // [n_gaussians][d]
  std::vector<double> covariances;  // [n_gaussians][d], or the Cholesky factor of each [n_gaussians][d][d], zeros above
  uint32_t n_row_dims = 0;
  std::vector<float> rows;
  struct Share {
    uint32_t row, weight_row;
    float share;
  };
  std::vector<Share> shares;
};

// StatisticsSum has a sum, and the sum of the magnitudes of its terms.
struct StatisticsSum {
  double value = 0, magnitude = 0;
};

// Returns the sums in the order of asr_backend_statistics_api.read.
std::vector<StatisticsSum> sum_statistics(const StatisticsProblem &problem);

}  // namespace asr::reference
