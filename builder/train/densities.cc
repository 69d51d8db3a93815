// SPDX-License-Identifier: Apache-2.0
#include "builder/train/densities.h"

#include <algorithm>
#include <cmath>

#include "builder/train/matrix.h"
#include "core/base/cholesky.h"
#include "core/base/error.h"
#include "plugins/common/posteriors-inl.h"

namespace asr::train {
namespace {

// Returns the rows of a lower triangle by columns: column c has the elements (c, c) ... (d - 1, c).
std::vector<double> by_columns(const std::vector<double> &triangle, size_t d) {
  std::vector<double> columns;
  columns.reserve(triangle.size());
  for (size_t c = 0; c < d; ++c) {
    for (size_t r = c; r < d; ++r) columns.push_back(triangle[triangle_at(r, c)]);
  }
  return columns;
}

}  // namespace

Densities::Densities(const MixtureModel &model, const Mixture &mixture)
    : mixture_(mixture),
      dims_(model.streams[mixture.stream].dims),
      full_(model.full),
      covariance_size_(model.covariance_size(mixture)),
      difference_(dims_.size()),
      turned_(dims_.size()) {
  const size_t d = dims_.size();
  for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
    double log_norm = -0.5 * static_cast<double>(d) * std::log(2 * M_PI);
    const auto first = mixture.covariances.begin() + static_cast<ptrdiff_t>(k * covariance_size_);
    std::vector<double> covariance(first, first + static_cast<ptrdiff_t>(covariance_size_));
    if (full_) {
      if (!factorise(&covariance, d)) fail(ASR_BAD_FILE, "a covariance is not positive definite; raise --smooth");
      for (size_t i = 0; i < d; ++i) log_norm -= std::log(covariance[diagonal_at(i)]);
      covariance = by_columns(inverse_triangle(covariance, d), d);
    } else {
      for (double &value : covariance) {
        log_norm -= 0.5 * std::log(value);
        value = 1 / value;
      }
    }
    log_norms_.push_back(log_norm);
    precisions_.insert(precisions_.end(), covariance.begin(), covariance.end());
  }
  for (const double weight : mixture.weights) log_weights_.push_back(std::log(weight));
}

double Densities::distance(const float *row, size_t gaussian) {
  const size_t d = dims_.size();
  const double *const mean = mixture_.means.data() + gaussian * d;
  for (size_t i = 0; i < d; ++i) difference_[i] = static_cast<double>(row[dims_[i]]) - mean[i];
  const double *precision = precisions_.data() + gaussian * covariance_size_;
  double sum = 0;
  if (!full_) {
    for (size_t i = 0; i < d; ++i) sum += precision[i] * difference_[i] * difference_[i];
    return sum;
  }
  std::fill(turned_.begin(), turned_.end(), 0.0);
  for (size_t c = 0; c < d; ++c) {
    const double x = difference_[c];
    double *const turned = turned_.data() + c;
    for (size_t i = 0; i < d - c; ++i) turned[i] += precision[i] * x;
    precision += d - c;
  }
  for (const double x : turned_) sum += x * x;
  return sum;
}

double Densities::shares(const float *row, size_t weight_row, std::vector<double> *shares) {
  const size_t n = mixture_.n_gaussians();
  const double *const log_weights = log_weights_.data() + weight_row * n;
  shares->resize(n);
  double best = -INFINITY;
  for (size_t k = 0; k < n; ++k) {
    (*shares)[k] = log_weights[k] + log_norms_[k] - distance(row, k) / 2;
    best = std::max(best, (*shares)[k]);
  }
  double sum = 0;
  for (double &share : *shares) sum += share = posterior_exp(share - best);
  for (double &share : *shares) share = posterior_of(share, sum);
  return best + posterior_log(sum);
}

asr_mixture_view Densities::view() const {
  return {dims_.data(),
          static_cast<uint32_t>(dims_.size()),
          static_cast<uint32_t>(mixture_.n_gaussians()),
          static_cast<uint32_t>(mixture_.n_weight_rows()),
          0,
          mixture_.means.data(),
          precisions_.data(),
          log_norms_.data(),
          log_weights_.data()};
}

}  // namespace asr::train
