// SPDX-License-Identifier: Apache-2.0
// Random models, and speech that is drawn from them, for the tests of transforms.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "reference/random_gmm.h"

namespace asr {

struct Speech {
  std::vector<float> rows;
  std::vector<uint32_t> states;
};

// Draws rows from the model.
inline Speech speak(const AcousticModel &model, size_t n_rows, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Speech speech;
  for (size_t t = 0; t < n_rows; ++t) {
    const uint32_t state = random() % model.n_states;
    std::vector<float> row(model.n_dims);
    for (size_t s = 0; s < model.streams.size(); ++s) {
      const asr_gmm_codebook &codebook = model.codebooks[model.state_codebook[state * model.streams.size() + s]];
      const uint32_t k = random() % codebook.n_gaussians;
      const std::vector<uint32_t> &dims = model.streams[s].dims;
      for (size_t i = 0; i < dims.size(); ++i) {
        const double precision = model.precisions[model.precision_at[model.covariance_of[codebook.first_gaussian + k]] + i];
        row[dims[i]] =
            static_cast<float>(model.means[codebook.first_mean + k * dims.size() + i] + normal(random) / std::sqrt(precision));
      }
    }
    speech.rows.insert(speech.rows.end(), row.begin(), row.end());
    speech.states.push_back(state);
  }
  return speech;
}

// Returns y = A x + b with a diagonal of `scale` and small other elements.
inline FeatureTransform bend(uint32_t n, float scale) {
  FeatureTransform transform{n, {}};
  for (uint32_t r = 0; r < n; ++r) {
    for (uint32_t c = 0; c <= n; ++c) {
      const float beside = 0.05f * std::sin(static_cast<float>(7 * r + 3 * c));
      transform.matrix.push_back(c == r ? scale : c == n ? 0.5f * std::cos(static_cast<float>(r)) : beside);
    }
  }
  return transform;
}

inline AcousticModel model_of(const std::vector<uint32_t> &stream_dims, uint32_t n_codebooks = 0) {
  reference::RandomGmm options;
  options.stream_dims = stream_dims;
  options.n_codebooks = n_codebooks;
  options.seed = 3;
  return reference::random_gmm(options);
}

}  // namespace asr
