// SPDX-License-Identifier: Apache-2.0
// RowSystem is the quadratic part of the objective of a transform's rows w_d: sum_d w_d . k_d - sum_de w_d G_de w_e / 2. With
// diagonal covariances each row stands alone, with full ones all rows of a feature stream are coupled (A1, A3 of
// docs/equations.md).
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/cholesky.h"

namespace asr {

class RowSystem {
 public:
  // n_rows rows of `size` values each.
  RowSystem(size_t n_rows, size_t size, bool is_coupled);

  size_t n_rows() const { return n_rows_; }
  bool is_coupled() const { return is_coupled_; }

  // Adds precisions[d][e] times a symmetric matrix to each G_de. precisions: [n_rows], or a lower triangle by rows if the rows
  // are coupled; outer: a lower triangle of `size` rows.
  void add(const double *precisions, const double *outer);
  double *linear(size_t row) { return linear_.data() + row * size_; }

  // Factorises every G_dd; false if one is not positive definite. Nothing may be added afterwards.
  bool factorise_rows();
  // G_dd^-1 x in place.
  void solve_row(size_t row, std::vector<double> *x) const { solve(factors_[row], size_, x); }
  // k_d - sum_{e != d} G_de w_e: the linear part of row d while the others stay. w: [n_rows][size].
  std::vector<double> linear_of(size_t row, const std::vector<double> &w) const;

  // Changes w to the maximum, from w on.
  void maximise(std::vector<double> *w) const;

 private:
  size_t block_at(size_t d, size_t e) const { return (is_coupled_ ? triangle_at(d, e) : d) * triangle_size(size_); }
  void subtract_product(size_t d, size_t e, const double *w, double *result) const;

  const size_t n_rows_, size_;
  const bool is_coupled_;
  std::vector<double> blocks_;  // lower triangles: G_dd, or G_de of each e <= d
  std::vector<double> linear_;  // [n_rows][size]: k
  std::vector<std::vector<double>> factors_;
};

}  // namespace asr
