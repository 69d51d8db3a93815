// SPDX-License-Identifier: Apache-2.0
#include "reference/gmm.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace asr::reference {
namespace {

constexpr double kLn2Pi = 1.8378770664093454836;

// Computes ln |P| by elimination; P is positive definite.
double log_determinant(std::vector<double> p, uint32_t d) {
  double log_det = 0;
  for (uint32_t i = 0; i < d; ++i) {
    log_det += std::log(p[i * d + i]);
    for (uint32_t r = i + 1; r < d; ++r) {
      const double ratio = p[r * d + i] / p[i * d + i];
      for (uint32_t c = i; c < d; ++c) p[r * d + c] -= ratio * p[i * d + c];
    }
  }
  return log_det;
}

// Inverts a positive definite matrix by elimination.
std::vector<double> inverse(std::vector<double> p, uint32_t d) {
  std::vector<double> result(size_t{d} * d, 0);
  for (uint32_t i = 0; i < d; ++i) result[i * d + i] = 1;
  for (uint32_t i = 0; i < d; ++i) {
    const double pivot = p[i * d + i];
    for (uint32_t c = 0; c < d; ++c) p[i * d + c] /= pivot, result[i * d + c] /= pivot;
    for (uint32_t r = 0; r < d; ++r) {
      const double ratio = p[r * d + i];
      if (r == i) continue;
      for (uint32_t c = 0; c < d; ++c) p[r * d + c] -= ratio * p[i * d + c], result[r * d + c] -= ratio * result[i * d + c];
    }
  }
  return result;
}

// ln sum exp(terms)
double log_sum_exp(const std::vector<double> &terms) {
  double best = -INFINITY, sum = 0;
  for (double term : terms) best = std::max(best, term);
  if (best == -INFINITY) return best;
  for (double term : terms) sum += std::exp(term - best);
  return best + std::log(sum);
}

// Returns the number of states that use a codebook in stream j.
uint32_t n_users(const asr_acoustic_view &view, uint32_t j, uint32_t codebook) {
  uint32_t n = 0;
  for (uint32_t s = 0; s < view.n_states; ++s) n += view.state_codebook[s * view.n_streams + j] == codebook ? 1 : 0;
  return n;
}

}  // namespace

double log_gaussian_diagonal(const double *x, const float *mean, const float *precision, uint32_t d) {
  double sum = -double(d) * kLn2Pi;
  for (uint32_t i = 0; i < d; ++i) {
    const double difference = x[i] - mean[i];
    sum += std::log(double(precision[i])) - precision[i] * difference * difference;
  }
  return sum / 2;
}

double log_gaussian_full(const double *x, const float *mean, const float *precision, uint32_t d) {
  std::vector<double> p(size_t{d} * d);
  for (uint32_t i = 0; i < d; ++i) {
    for (uint32_t j = 0; j <= i; ++j) p[i * d + j] = p[j * d + i] = precision[i * (i + 1) / 2 + j];
  }
  double distance = 0;
  for (uint32_t i = 0; i < d; ++i) {
    for (uint32_t j = 0; j < d; ++j) distance += (x[i] - mean[i]) * p[i * d + j] * (x[j] - mean[j]);
  }
  return (log_determinant(p, d) - double(d) * kLn2Pi - distance) / 2;
}

namespace {

// Returns ln N of the Gaussians of a state's codebook in feature stream j.
std::vector<double> log_densities(const asr_acoustic_view &view, uint32_t state, uint32_t j, const float *features) {
  const asr_gmm_codebook &codebook = view.codebooks[view.state_codebook[state * view.n_streams + j]];
  const uint32_t d = view.streams[j].n_dims;
  std::vector<double> x, densities;
  for (uint32_t i = 0; i < d; ++i) x.push_back(features[view.streams[j].dims[i]]);
  for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
    const float *const mean = view.means + codebook.first_mean + size_t{k} * d;
    const float *const precision = view.precisions + view.precision_at[view.covariance_of[codebook.first_gaussian + k]];
    const auto log_gaussian = view.covariance == ASR_COVARIANCE_FULL ? log_gaussian_full : log_gaussian_diagonal;
    densities.push_back(log_gaussian(x.data(), mean, precision, d));
  }
  return densities;
}

// Returns these with the weights of the state.
std::vector<double> weighted(const asr_acoustic_view &view, uint32_t state, uint32_t j, std::vector<double> terms) {
  const float *const log_weights = view.log_weights + view.state_weight[state * view.n_streams + j];
  for (size_t k = 0; k < terms.size(); ++k) terms[k] += log_weights[k];
  return terms;
}

}  // namespace

double log_mixture(const asr_acoustic_view &view, uint32_t state, uint32_t j, const float *features) {
  return log_sum_exp(weighted(view, state, j, log_densities(view, state, j, features)));
}

double log_single_gaussian(const asr_acoustic_view &view, uint32_t state, uint32_t j, const float *features) {
  const asr_gmm_codebook &codebook = view.codebooks[view.state_codebook[state * view.n_streams + j]];
  const float *const log_weights = view.log_weights + view.state_weight[state * view.n_streams + j];
  const bool full = view.covariance == ASR_COVARIANCE_FULL;
  const uint32_t d = view.streams[j].n_dims, n = codebook.n_gaussians;
  const auto mean_of = [&](uint32_t k) { return view.means + codebook.first_mean + size_t{k} * d; };
  const double log_total = log_sum_exp(std::vector<double>(log_weights, log_weights + n));
  std::vector<double> weights(n, 1.0 / n), mean(d, 0), covariance(size_t{d} * d, 0);
  for (uint32_t k = 0; k < n && log_total > -INFINITY; ++k) weights[k] = std::exp(log_weights[k] - log_total);
  for (uint32_t k = 0; k < n; ++k) {
    for (uint32_t i = 0; i < d; ++i) mean[i] += weights[k] * mean_of(k)[i];
  }
  for (uint32_t k = 0; k < n; ++k) {
    const float *const precision = view.precisions + view.precision_at[view.covariance_of[codebook.first_gaussian + k]];
    std::vector<double> p(size_t{d} * d, 0);
    for (uint32_t i = 0; i < d; ++i) {
      for (uint32_t m = 0; m <= i; ++m) {
        p[i * d + m] = p[m * d + i] = full ? precision[i * (i + 1) / 2 + m] : (m == i ? precision[i] : 0);
      }
    }
    const std::vector<double> within = inverse(p, d);
    for (uint32_t i = 0; i < d; ++i) {
      for (uint32_t m = 0; m < d; ++m) {
        if (!full && m != i) continue;
        covariance[i * d + m] += weights[k] * (within[i * d + m] + (mean_of(k)[i] - mean[i]) * (mean_of(k)[m] - mean[m]));
      }
    }
  }
  const std::vector<double> p = inverse(covariance, d);
  double distance = 0;
  for (uint32_t i = 0; i < d; ++i) {
    for (uint32_t m = 0; m < d; ++m) {
      distance += (features[view.streams[j].dims[i]] - mean[i]) * p[i * d + m] * (features[view.streams[j].dims[m]] - mean[m]);
    }
  }
  return -(log_determinant(covariance, d) + double(d) * kLn2Pi + distance) / 2;
}

double log_likelihood(const asr_acoustic_view &view, uint32_t state, const float *features, uint32_t n_best) {
  double total = 0;
  for (uint32_t j = 0; j < view.n_streams; ++j) {
    const asr_gmm_codebook &codebook = view.codebooks[view.state_codebook[state * view.n_streams + j]];
    const float *const log_weights = view.log_weights + view.state_weight[state * view.n_streams + j];
    const std::vector<double> densities = log_densities(view, state, j, features);
    const std::vector<double> terms = weighted(view, state, j, densities);
    std::vector<double> best_terms;
    double score = log_sum_exp(terms);
    if (n_best > 0 && n_best < codebook.n_gaussians && n_users(view, j, view.state_codebook[state * view.n_streams + j]) > 1) {
      std::vector<double> sorted = densities;
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
        if (densities[k] >= sorted[n_best - 1]) best_terms.push_back(terms[k]);
      }
      const double of_best = log_sum_exp(best_terms);
      const double greatest = *std::max_element(log_weights, log_weights + codebook.n_gaussians);
      if (of_best - greatest - sorted[0] >= -100 * std::log(2.0)) score = of_best;
    }
    total += score;
  }
  return total;
}

}  // namespace asr::reference
