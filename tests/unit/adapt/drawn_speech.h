// SPDX-License-Identifier: Apache-2.0
// Random models, and speech that is drawn from them, for the tests of transforms.
#pragma once

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/base/cholesky.h"
#include "reference/random_gmm.h"

namespace asr {

struct Speech {
  std::vector<float> rows;
  std::vector<uint32_t> states;
};

// Gives white noise the covariance whose full precision this is: with P = L L', x becomes L'^-1 x.
inline void colour(const float *precision, std::vector<double> *x) {
  const size_t n = x->size();
  std::vector<double> factor(precision, precision + triangle_size(n));
  if (!factorise(&factor, n)) throw std::logic_error("the precision of a drawn model");
  for (size_t i = n; i-- > 0;) {
    for (size_t r = i + 1; r < n; ++r) (*x)[i] -= factor[triangle_at(r, i)] * (*x)[r];
    (*x)[i] /= factor[triangle_at(i, i)];
  }
}

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
      const float *const precision = &model.precisions[model.precision_at[model.covariance_of[codebook.first_gaussian + k]]];
      std::vector<double> drawn(dims.size());
      for (double &value : drawn) value = normal(random);
      if (model.covariance == ASR_COVARIANCE_FULL) {
        colour(precision, &drawn);
      } else {
        for (size_t i = 0; i < dims.size(); ++i) drawn[i] /= std::sqrt(double{precision[i]});
      }
      for (size_t i = 0; i < dims.size(); ++i) {
        row[dims[i]] = static_cast<float>(model.means[codebook.first_mean + k * dims.size() + i] + drawn[i]);
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

inline AcousticModel model_of(const std::vector<uint32_t> &stream_dims, uint32_t n_codebooks = 0,
                              asr_covariance covariance = ASR_COVARIANCE_DIAGONAL) {
  reference::RandomGmm options;
  options.covariance = covariance;
  options.stream_dims = stream_dims;
  options.n_codebooks = n_codebooks;
  options.seed = 3;
  return reference::random_gmm(options);
}

}  // namespace asr
