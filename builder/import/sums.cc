// SPDX-License-Identifier: Apache-2.0
#include "builder/import/sums.h"

#include <numeric>

namespace asr {

// Gram-Schmidt in double, each row twice, since the first pass leaves rounding errors of the size of what it removes.
uint32_t first_dependent_row(const std::vector<float> &matrix, uint32_t n_rows, uint32_t n_cols, uint32_t n_used) {
  constexpr double kMinShare = 1e-6;  // of a row's length that is left
  std::vector<std::vector<double>> basis;
  for (uint32_t r = 0; r < n_rows; ++r) {
    const auto begin = matrix.begin() + static_cast<std::ptrdiff_t>(uint64_t{r} * n_cols);
    std::vector<double> row(begin, begin + n_used);
    const auto length = [&] { return std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0)); };
    const double whole = length();
    for (int pass = 0; pass < 2; ++pass) {
      for (const std::vector<double> &other : basis) {
        const double along = std::inner_product(row.begin(), row.end(), other.begin(), 0.0);
        for (uint32_t i = 0; i < n_used; ++i) row[i] -= along * other[i];
      }
    }
    const double left = length();
    if (!std::isfinite(left) || !(left > kMinShare * whole)) return r;
    for (double &value : row) value /= left;
    basis.push_back(std::move(row));
  }
  return n_rows;
}

}  // namespace asr
