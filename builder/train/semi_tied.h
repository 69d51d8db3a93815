// SPDX-License-Identifier: Apache-2.0
// Semi-tied covariances (equation T8): one transform of the features for all Gaussians, in whose space covariances are
// diagonal. Called by the trainer between an alignment and the rounds that follow it.
#pragma once

#include <vector>

#include "builder/train/em.h"
#include "core/feature/front_end.h"

namespace asr::train {

// Full covariances of d dimensions and their weights, from which the transform is estimated.
struct WeightedCovariances {
  size_t d = 0;
  std::vector<double> weights;            // positive
  std::vector<const double *> triangles;  // [weights.size()], of the caller: positive definite, lower triangles by rows
};

// The transform A [d][d] under which diagonal covariances fit best; |A| = 1. Without covariances it is the unit matrix.
std::vector<double> semi_tied_transform(const WeightedCovariances &covariances, ThreadPool *pool);

// Estimates the transform from rows of the model's present features, and converts means and variances to the new
// features. The model has diagonal covariances and one stream of all features in their order. The rows stay as they
// are.
std::vector<double> make_semi_tied(const TrainingRows &rows, const EstimateOptions &options, ThreadPool *pool,
                                   MixtureModel *model);

bool may_be_semi_tied(const std::vector<GmmStream> &streams, uint32_t n_dims);  // one stream of all features in their order

// Makes A the last step of the front end, after a transform that it may have.
void append_transform(const std::vector<double> &matrix, FrontEnd *front_end);

// Returns the product of a matrix [d][d] and one of d rows.
std::vector<double> product(const std::vector<double> &left, const std::vector<double> &right, size_t d);

}  // namespace asr::train
