// SPDX-License-Identifier: Apache-2.0
// Feature-space maximum likelihood linear regression (A1 of docs/equations.md) estimates a speaker's feature transform. It
// maximises the likelihood of the transformed rows, given the state of each row.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/adapt/gaussian_posteriors.h"
#include "core/adapt/row_system.h"

namespace asr {

// The prior holds the expected sums for one row drawn from the model, with all states equally frequent.
struct FmllrPrior {
  explicit FmllrPrior(const GaussianPosteriors &gaussians);

  // Adds n_rows rows, for which the identity is optimal, to a system of rows of a transform. places: the feature of each row,
  // and n_dims last, for the additional 1.
  void add_to(RowSystem *system, const std::vector<size_t> &places, double n_rows) const;

  std::vector<double> moments;     // lower triangle of x x', where x ends with an additional 1
  std::vector<double> precisions;  // [n_dims]: mean precision, or a lower triangle if covariances are full
};

// FmllrStatistics accumulates sums over rows of speech. Sums of several utterances can be added.
class FmllrStatistics {
 public:
  explicit FmllrStatistics(const AcousticModel &model);

  // Adds a row of this state. The shares of the Gaussians are computed from `transformed`, the row under the current transform.
  void add(const GaussianPosteriors &posteriors, const float *row, const float *transformed, uint32_t state);

 private:
  friend FeatureTransform estimate_fmllr(const FmllrStatistics &statistics, const GaussianPosteriors &posteriors,
                                         const FmllrPrior &prior, double prior_rows);

  void add_diagonal(const GaussianPosteriors &posteriors, const asr_gmm_codebook &codebook);
  void add_full(const asr_gmm_codebook &codebook);

  const uint32_t n_dims_;
  double n_rows_ = 0;
  std::optional<RowSystem> system_;  // with diagonal covariances all sums; nullopt with full ones
  // [n_gaussians] with full ones: lower triangle of the sum of share times x x', where x ends with 1; empty: no share.
  std::vector<std::vector<double>> sums_;
  std::vector<double> shares_, weights_, x_, outer_;  // scratch of the current row; outer_: lower triangle of x x'
};

// Estimates the transform; without rows it has no dimensions. The prior counts as prior_rows rows drawn from the model, for
// which the identity is optimal. So a few words change little, and directions without data keep the identity.
FeatureTransform estimate_fmllr(const FmllrStatistics &statistics, const GaussianPosteriors &posteriors,
                                const FmllrPrior &prior, double prior_rows);

}  // namespace asr
