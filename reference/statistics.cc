// SPDX-License-Identifier: Apache-2.0
#include "reference/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asr::reference {
namespace {

void add(double value, StatisticsSum *to) {
  to->value += value;
  to->magnitude += std::abs(value);
}

std::vector<double> difference(const StatisticsProblem &p, uint32_t row, size_t k) {
  std::vector<double> y;
  for (size_t i = 0; i < p.dims.size(); ++i) {
    y.push_back(static_cast<double>(p.rows[size_t{row} * p.n_row_dims + p.dims[i]]) - p.means[k * p.dims.size() + i]);
  }
  return y;
}

// Returns ln N(x; mean, covariance). A full covariance L L' has the distance |z|^2 with L z = y.
double log_density(const StatisticsProblem &p, const std::vector<double> &y, size_t k) {
  const size_t d = y.size();
  double distance = 0, log_determinant = 0;
  std::vector<double> z(d);
  for (size_t i = 0; i < d; ++i) {
    if (!p.full_covariances) {
      const double variance = p.covariances[k * d + i];
      distance += y[i] * y[i] / variance;
      log_determinant += std::log(variance);
      continue;
    }
    const double *const factor = &p.covariances[(k * d + i) * d];
    z[i] = y[i];
    for (size_t j = 0; j < i; ++j) z[i] -= factor[j] * z[j];
    z[i] /= factor[i];
    distance += z[i] * z[i];
    log_determinant += 2 * std::log(factor[i]);
  }
  return -0.5 * (static_cast<double>(d) * std::log(2 * M_PI) + log_determinant + distance);
}

}  // namespace

std::vector<StatisticsSum> sum_statistics(const StatisticsProblem &p) {
  const size_t d = p.dims.size(), n = p.means.size() / d, size = p.full_moments ? d * (d + 1) / 2 : d;
  const size_t first = p.weights.size(), second = first + n * d, last = second + n * size;
  std::vector<StatisticsSum> sums(last + 1);
  for (const StatisticsProblem::Share &share : p.shares) {
    std::vector<double> values;
    double best = -std::numeric_limits<double>::infinity(), sum = 0;
    for (size_t k = 0; k < n; ++k) {
      values.push_back(std::log(p.weights[share.weight_row * n + k]) + log_density(p, difference(p, share.row, k), k));
      best = std::max(best, values.back());
    }
    if (std::isinf(best)) {
      if (share.share > 0) add(best, &sums[last]);
      continue;
    }
    for (const double value : values) sum += std::exp(value - best);
    add(static_cast<double>(share.share) * (best + std::log(sum)), &sums[last]);
    for (size_t k = 0; k < n; ++k) {
      const double posterior = std::exp(values[k] - best) / sum * static_cast<double>(share.share);
      if (posterior < 1e-10) continue;
      const std::vector<double> y = difference(p, share.row, k);
      add(posterior, &sums[share.weight_row * n + k]);
      for (size_t r = 0, at = second + k * size; r < d; ++r) {
        add(posterior * y[r], &sums[first + k * d + r]);
        for (size_t c = p.full_moments ? 0 : r; c <= r; ++c) add(posterior * y[r] * y[c], &sums[at++]);
      }
    }
  }
  return sums;
}

}  // namespace asr::reference
