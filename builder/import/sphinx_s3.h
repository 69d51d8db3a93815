// SPDX-License-Identifier: Apache-2.0
// Reads CMU Sphinx's "s3" container and the parameter files in it: means, variances, mixture_weights, transition_matrices,
// feature_transform. Called by sphinx.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace asr::sphinx {

// means or variances: values[codebook][stream][density][dim of the stream].
struct Gaussians {
  uint32_t n_codebooks = 0, n_densities = 0;
  std::vector<uint32_t> stream_dims;
  std::vector<float> values;
};

// mixture_weights, normalised to probabilities: values[senone][stream][density].
struct MixtureWeights {
  uint32_t n_senones = 0, n_streams = 0, n_densities = 0;
  std::vector<float> values;
};

// transition_matrices, normalised to probabilities: values[matrix][from][to]; `to` = n_states is the exit; 0 = not allowed.
struct TransitionMatrices {
  uint32_t n_matrices = 0, n_states = 0;
  std::vector<double> values;
};

// feature_transform: row-major, one row for each output dimension.
struct FeatureTransform {
  uint32_t n_rows = 0, n_cols = 0;
  std::vector<float> values;
};

Gaussians read_gaussians(const std::string &path);
MixtureWeights read_mixture_weights(const std::string &path, double floor);
TransitionMatrices read_transition_matrices(const std::string &path, double floor);
FeatureTransform read_feature_transform(const std::string &path);

}  // namespace asr::sphinx
