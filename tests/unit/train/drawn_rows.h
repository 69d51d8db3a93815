// SPDX-License-Identifier: Apache-2.0
// Random models in training's form, rows that they fit, and likelihoods by the plain references of reference.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/train/em.h"

namespace asr::test {

struct DrawnRows {
  std::vector<float> values;
  train::TrainingRows rows;  // rows of `values`
};

// n rows of random states, features about where the model's means are.
void draw_rows(const AcousticModel &model, uint64_t n, uint64_t seed, DrawnRows *drawn);

// The rows' log-likelihood under the model as it would be written.
double log_likelihood(const train::MixtureModel &model, const train::TrainingRows &rows);

// Floors far below the rows' variances, no Gaussian too rare to be kept.
train::EstimateOptions loose_options(uint32_t n_dims);

}  // namespace asr::test
