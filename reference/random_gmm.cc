// SPDX-License-Identifier: Apache-2.0
#include "reference/random_gmm.h"

#include <cmath>
#include <numeric>

namespace asr::reference {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return (double(bits() >> 11) + 0.5) * 0x1p-53; }
  uint32_t between(uint32_t least, uint32_t most) { return least + uint32_t(bits() % (most - least + 1)); }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()); }

 private:
  uint64_t state_;
};

// Adds deviations between 0.4 and 1.6 in units of the scale.
void add_diagonal_precision(Random &random, uint32_t d, double scale, std::vector<float> &precisions) {
  for (uint32_t i = 0; i < d; ++i) {
    const double deviation = scale * (0.4 + 1.2 * random.uniform());
    precisions.push_back(float(1 / (deviation * deviation)));
  }
}

// Adds the product of a random lower triangle and its transpose.
void add_full_precision(Random &random, uint32_t d, double scale, std::vector<float> &precisions) {
  std::vector<double> triangle(size_t{d} * d, 0);
  for (uint32_t i = 0; i < d; ++i) {
    for (uint32_t j = 0; j < i; ++j) triangle[i * d + j] = 0.6 * (random.uniform() - 0.5) / scale;
    triangle[i * d + i] = (0.6 + random.uniform()) / scale;
  }
  for (uint32_t i = 0; i < d; ++i) {
    for (uint32_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (uint32_t k = 0; k <= j; ++k) sum += triangle[i * d + k] * triangle[j * d + k];
      precisions.push_back(float(sum));
    }
  }
}

void add_covariance(Random &random, const RandomGmm &options, uint32_t d, AcousticModel &model) {
  model.precision_at.push_back(model.precisions.size());
  const auto add = options.covariance == ASR_COVARIANCE_FULL ? add_full_precision : add_diagonal_precision;
  add(random, d, options.scale, model.precisions);
}

void add_codebook(Random &random, const RandomGmm &options, uint32_t stream, uint32_t first_covariance, AcousticModel &model) {
  const uint32_t d = options.stream_dims[stream];
  const uint32_t n = random.between(options.min_gaussians, options.max_gaussians);
  model.codebooks.push_back({stream, n, model.n_gaussians(), model.means.size()});
  for (uint32_t k = 0; k < n; ++k) {
    for (uint32_t i = 0; i < d; ++i) {
      model.means.push_back(float(options.scale * (1.5 * random.normal() + options.mean_offset)));
    }
    if (options.n_covariances > 0) {
      model.covariance_of.push_back(first_covariance + random.between(0, options.n_covariances - 1));
    } else {
      model.covariance_of.push_back(uint32_t(model.precision_at.size()));
      add_covariance(random, options, d, model);
    }
  }
}

// Adds weights that sum to 1, some of them zero, never all.
void add_weights(Random &random, const RandomGmm &options, uint32_t n, AcousticModel &model) {
  std::vector<double> weights;
  for (uint32_t k = 0; k < n; ++k) weights.push_back(random.uniform() < options.zero_weights ? 0 : random.uniform());
  weights[random.between(0, n - 1)] += 0.1;
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double weight : weights) model.log_weights.push_back(float(std::log(weight / sum)));
}

}  // namespace

AcousticModel random_gmm(const RandomGmm &options) {
  Random random(options.seed);
  AcousticModel model;
  model.covariance = options.covariance;
  model.n_states = options.n_states;
  const auto n_streams = uint32_t(options.stream_dims.size());
  std::vector<uint32_t> first_codebook;
  for (uint32_t j = 0; j < n_streams; ++j) {
    model.streams.emplace_back();
    for (uint32_t i = 0; i < options.stream_dims[j]; ++i) model.streams.back().dims.push_back(model.n_dims++);
    const auto first_covariance = uint32_t(model.precision_at.size());
    for (uint32_t c = 0; c < options.n_covariances; ++c) add_covariance(random, options, options.stream_dims[j], model);
    first_codebook.push_back(uint32_t(model.codebooks.size()));
    const uint32_t n_codebooks = options.n_codebooks > 0 ? options.n_codebooks : options.n_states;
    for (uint32_t c = 0; c < n_codebooks; ++c) add_codebook(random, options, j, first_covariance, model);
  }
  for (uint32_t s = 0; s < options.n_states; ++s) {
    for (uint32_t j = 0; j < n_streams; ++j) {
      const uint32_t codebook = first_codebook[j] + (options.n_codebooks > 0 ? random.between(0, options.n_codebooks - 1) : s);
      model.state_codebook.push_back(codebook);
      model.state_weight.push_back(model.log_weights.size());
      add_weights(random, options, model.codebooks[codebook].n_gaussians, model);
    }
  }
  return model;
}

std::vector<float> random_features(const RandomGmm &options, uint32_t n_rows, double far) {
  Random random(~options.seed);
  const uint32_t n_dims = std::accumulate(options.stream_dims.begin(), options.stream_dims.end(), 0u);
  std::vector<float> features(size_t{n_rows} * n_dims);
  for (float &x : features) x = float(options.scale * (far * 1.8 * random.normal() + options.mean_offset));
  return features;
}

}  // namespace asr::reference
