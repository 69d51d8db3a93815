// SPDX-License-Identifier: Apache-2.0
// Random acoustic models and matching features, the same on every machine, for GMM tests and benchmarks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/acoustic_model.h"

namespace asr::reference {

struct RandomGmm {
  asr_covariance covariance = ASR_COVARIANCE_DIAGONAL;
  uint32_t n_states = 10;
  std::vector<uint32_t> stream_dims = {13};  // features of each stream
  uint32_t min_gaussians = 1, max_gaussians = 8;
  uint32_t n_codebooks = 0;    // per stream, shared by all states; 0 = each state has its own
  uint32_t n_covariances = 0;  // per stream, shared by all Gaussians; 0 = each Gaussian has its own
  double zero_weights = 0;     // fraction of the weights that are -inf
  double mean_offset = 0;      // added to all means and features
  double scale = 1;            // scale of all features, means and deviations
  uint64_t seed = 1;
};

AcousticModel random_gmm(const RandomGmm &options);

// Returns features[n_rows][n_dims] near the model's means; `far` scales the distance.
std::vector<float> random_features(const RandomGmm &options, uint32_t n_rows, double far = 1);

}  // namespace asr::reference
