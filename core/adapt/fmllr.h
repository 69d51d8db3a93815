// SPDX-License-Identifier: Apache-2.0
// Feature-space maximum likelihood linear regression: the transform of a speaker's rows under which the model finds them most
// likely, given which states they belong to (A1 of docs/equations.md). Diagonal covariances.
#pragma once

#include <cstdint>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/adapt/gaussian_posteriors.h"

namespace asr {

// The mean of the sums over rows that the model would make, all states being equally frequent.
struct FmllrPrior {
  explicit FmllrPrior(const GaussianPosteriors &gaussians);

  std::vector<double> moments;  // lower triangle: x x', x with a 1 at its end
  std::vector<double> weights;  // [n_dims]: the mean precision
};

// Sums over rows of speech. Those of several utterances add up.
class FmllrStatistics {
 public:
  explicit FmllrStatistics(uint32_t n_dims);

  // A row of this state. `transformed`: the same under the transform so far, by which Gaussians share it.
  void add(const GaussianPosteriors &posteriors, const float *row, const float *transformed, uint32_t state);

 private:
  friend FeatureTransform estimate_fmllr(const FmllrStatistics &statistics, const FmllrPrior &prior, double prior_rows);

  size_t n_triangle() const { return (size_t{n_dims_} + 1) * (n_dims_ + 2) / 2; }

  const uint32_t n_dims_;
  double n_rows_ = 0;
  std::vector<double> linear_;                                // [n_dims][n_dims + 1]: k of each row of the transform
  std::vector<double> quadratic_;                             // [n_dims], lower triangles: G of each row
  std::vector<double> shares_, weights_, means_, x_, outer_;  // of the row under way; outer_: the lower triangle of x x'
};

// The transform; one without dimensions where there are no rows. prior_rows: as if the model had made so many rows more, for
// which the identity is best, so that a few words change little and what was not heard stays as it is.
FeatureTransform estimate_fmllr(const FmllrStatistics &statistics, const FmllrPrior &prior, double prior_rows);

}  // namespace asr
