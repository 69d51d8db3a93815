// SPDX-License-Identifier: Apache-2.0
// Random acoustic models and features that fit them, the same on every machine: what GMM tests and benchmarks score.
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
  uint32_t n_codebooks = 0;    // of each stream, shared by all states; 0 = each state has its own
  uint32_t n_covariances = 0;  // of each stream, shared by all Gaussians; 0 = each Gaussian has its own
  double zero_weights = 0;     // part of the weights that are -inf
  double mean_offset = 0;      // added to all means and features
  double scale = 1;            // of all features, means and deviations
  uint64_t seed = 1;
};

AcousticModel random_gmm(const RandomGmm &options);

// features[n_rows][n_dims] about where the model's means are; `far` times as far away.
std::vector<float> random_features(const RandomGmm &options, uint32_t n_rows, double far = 1);

}  // namespace asr::reference
