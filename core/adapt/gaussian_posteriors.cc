// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/gaussian_posteriors.h"

#include <algorithm>
#include <cmath>

#include "core/base/cholesky.h"

namespace asr {
namespace {

// Half of ln |P / 2 pi|. A bundle's precisions are positive definite.
double log_norm_of(const float *precision, size_t d, bool is_full) {
  double log_norm = 0;
  if (!is_full) {
    for (size_t i = 0; i < d; ++i) log_norm += std::log(static_cast<double>(precision[i]) / (2 * M_PI)) / 2;
    return log_norm;
  }
  std::vector<double> factor(precision, precision + triangle_size(d));
  if (!factorise(&factor, d)) return -INFINITY;
  for (size_t i = 0; i < d; ++i) log_norm += std::log(factor[triangle_at(i, i)]) - std::log(2 * M_PI) / 2;
  return log_norm;
}

// x P x'.
double distance_of(const std::vector<double> &x, const float *precision, bool is_full) {
  double distance = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!is_full) {
      distance += static_cast<double>(precision[i]) * x[i] * x[i];
      continue;
    }
    double sum = 0;
    for (size_t j = 0; j < i; ++j) sum += static_cast<double>(*precision++) * x[j];
    distance += x[i] * (2 * sum + static_cast<double>(*precision++) * x[i]);
  }
  return distance;
}

}  // namespace

GaussianPosteriors::GaussianPosteriors(const AcousticModel &model, const std::vector<float> &means)
    : model_(model), means_(means), log_norms_(model.precision_at.size()) {
  for (const asr_gmm_codebook &codebook : model.codebooks) {
    const size_t d = model.streams[codebook.stream].dims.size();
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      log_norms_[model.covariance_of[codebook.first_gaussian + k]] = log_norm_of(precision(codebook, k), d, is_full());
    }
  }
}

const float *GaussianPosteriors::mean(const asr_gmm_codebook &codebook, uint32_t gaussian) const {
  return means_.data() + codebook.first_mean + gaussian * model_.streams[codebook.stream].dims.size();
}

const float *GaussianPosteriors::precision(const asr_gmm_codebook &codebook, uint32_t gaussian) const {
  return model_.precisions.data() + model_.precision_at[model_.covariance_of[codebook.first_gaussian + gaussian]];
}

double GaussianPosteriors::of(const float *row, uint32_t state, uint32_t stream, std::vector<double> *shares) const {
  const std::vector<uint32_t> &dims = model_.streams[stream].dims;
  const asr_gmm_codebook &own = codebook(state, stream);
  const float *const weights = log_weights(state, stream);
  shares->assign(own.n_gaussians, 0);
  double best = -INFINITY;
  std::vector<double> difference(dims.size());
  for (uint32_t k = 0; k < own.n_gaussians; ++k) {
    const float *const mu = mean(own, k);
    for (size_t i = 0; i < dims.size(); ++i) {
      difference[i] = static_cast<double>(row[dims[i]]) - static_cast<double>(mu[i]);
    }
    const double distance = distance_of(difference, precision(own, k), is_full());
    (*shares)[k] = static_cast<double>(weights[k]) + log_norms_[model_.covariance_of[own.first_gaussian + k]] - distance / 2;
    best = std::max(best, (*shares)[k]);
  }
  double sum = 0;
  for (double &share : *shares) sum += share = std::exp(share - best);
  for (double &share : *shares) share /= sum;
  return best + std::log(sum);
}

}  // namespace asr
