// SPDX-License-Identifier: Apache-2.0
// Feature-space maximum likelihood linear regression (A1 of docs/equations.md) estimates a speaker's feature transform. It
// maximises the likelihood of the transformed rows, given the state of each row. Covariances are diagonal.
#pragma once

#include <cstdint>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/adapt/gaussian_posteriors.h"
#include "core/base/cholesky.h"

namespace asr {

// The prior holds the expected sums for one row drawn from the model, with all states equally frequent.
struct FmllrPrior {
  explicit FmllrPrior(const GaussianPosteriors &gaussians);

  std::vector<double> moments;  // lower triangle of x x', where x ends with an additional 1
  std::vector<double> weights;  // [n_dims]: mean precision
};

// FmllrStatistics accumulates sums over rows of speech. Sums of several utterances can be added.
class FmllrStatistics {
 public:
  explicit FmllrStatistics(uint32_t n_dims);

  // Adds a row of this state. The shares of the Gaussians are computed from `transformed`, the row under the current transform.
  void add(const GaussianPosteriors &posteriors, const float *row, const float *transformed, uint32_t state);

 private:
  friend FeatureTransform estimate_fmllr(const FmllrStatistics &statistics, const FmllrPrior &prior, double prior_rows);

  size_t n_triangle() const { return triangle_size(size_t{n_dims_} + 1); }

  const uint32_t n_dims_;
  double n_rows_ = 0;
  std::vector<double> linear_;                                // [n_dims][n_dims + 1]: k of each row of the transform
  std::vector<double> quadratic_;                             // [n_dims], lower triangles: G of each row
  std::vector<double> shares_, weights_, means_, x_, outer_;  // scratch of the current row; outer_: lower triangle of x x'
};

// Estimates the transform; without rows it has no dimensions. The prior counts as prior_rows rows drawn from the model, for
// which the identity is optimal. So a few words change little, and directions without data keep the identity.
FeatureTransform estimate_fmllr(const FmllrStatistics &statistics, const FmllrPrior &prior, double prior_rows);

}  // namespace asr
