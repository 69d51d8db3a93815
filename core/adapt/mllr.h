// SPDX-License-Identifier: Apache-2.0
// Maximum likelihood linear regression (A3 of docs/equations.md) estimates a transform of all means of a model for a speaker.
// It maximises the likelihood of the speaker's rows, given the state of each row. Covariances stay.
#pragma once

#include <cstdint>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/adapt/fmllr.h"
#include "core/adapt/gaussian_posteriors.h"

namespace asr {

// AdaptedMeans holds a model's means under a transform mu' = A mu + b. A mean of a feature stream depends on the values of this
// stream alone, so elements of A between streams have no effect.
struct AdaptedMeans {
  AdaptedMeans(const AcousticModel &model, FeatureTransform by);

  FeatureTransform transform;
  std::vector<float> means;  // as AcousticModel::means
};

// MllrStatistics accumulates sums over rows of speech, for each Gaussian that has a share in one.
class MllrStatistics {
 public:
  explicit MllrStatistics(const AcousticModel &model) : sums_(model.n_gaussians()) {}

  // Adds a row of this state. adapted: the model with the means under the current transform.
  void add(const GaussianPosteriors &adapted, const float *row, uint32_t state);

 private:
  friend FeatureTransform estimate_mllr(const MllrStatistics &statistics, const GaussianPosteriors &original,
                                        const FmllrPrior &prior, double prior_rows);

  std::vector<std::vector<double>> sums_;  // [n_gaussians]: of the shares, then of the rows times their share; empty: no share
  std::vector<double> shares_;             // scratch of the current row
};

// Estimates the transform of the original model's means; without rows it has no dimensions. The prior counts as prior_rows rows
// for which the means fit as they are. So a few words change little, and directions without data stay.
FeatureTransform estimate_mllr(const MllrStatistics &statistics, const GaussianPosteriors &original, const FmllrPrior &prior,
                               double prior_rows);

}  // namespace asr
