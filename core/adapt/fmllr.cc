// SPDX-License-Identifier: Apache-2.0
// Estimates the transform row by row (Gales 1998, Maximum Likelihood Linear Transformations for HMM-Based Speech Recognition).
// Each row in turn is set to its optimum while the others stay, which needs only the cofactors of that row.
#include "core/adapt/fmllr.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

constexpr int kMaxSweeps = 50;
constexpr double kMinMove = 1e-9;  // smallest sum of squared changes of a sweep that continues the iteration

void add_scaled(const std::vector<double> &values, double scale, double *sums) {
  for (size_t i = 0; i < values.size(); ++i) sums[i] += scale * values[i];
}

// The objective of one row: rows log|w . p| + w . k - w G w' / 2.
struct RowProblem {
  std::vector<double> factor;  // Cholesky factor of G
  std::vector<double> mean;    // G^-1 k
};

class Solver {
 public:
  Solver(uint32_t n_dims, double n_rows)
      : n_(n_dims),
        n_rows_(n_rows),
        rows_(n_dims),
        transform_(size_t{n_dims} * (n_dims + 1)),
        inverse_(size_t{n_dims} * n_dims) {
    for (uint32_t d = 0; d < n_; ++d) transform_[size_t{d} * (n_ + 1) + d] = inverse_[size_t{d} * n_ + d] = 1;
  }

  bool set_row(uint32_t d, std::vector<double> quadratic, std::vector<double> linear) {
    if (!factorise(&quadratic, n_ + 1)) return false;
    solve(quadratic, n_ + 1, &linear);
    rows_[d] = {std::move(quadratic), std::move(linear)};
    return true;
  }

  FeatureTransform run() {
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      double moved = 0;
      for (uint32_t d = 0; d < n_; ++d) moved += update(d);
      if (moved < kMinMove) break;
    }
    FeatureTransform result;
    result.n_dims = n_;
    result.matrix.assign(transform_.begin(), transform_.end());
    return result;
  }

 private:
  const uint32_t n_;
  const double n_rows_;
  std::vector<RowProblem> rows_;
  std::vector<double> transform_;  // [n][n + 1]
  std::vector<double> inverse_;    // [n][n], inverse of A

  // Sets row d to its optimum and returns the sum of its squared changes.
  double update(uint32_t d) {
    const RowProblem &row = rows_[d];
    std::vector<double> cofactors(n_ + 1, 0);  // cofactors of the row without their common factor: column d of the inverse
    for (uint32_t i = 0; i < n_; ++i) cofactors[i] = inverse_[size_t{i} * n_ + d];
    std::vector<double> direction = cofactors;
    solve(row.factor, n_ + 1, &direction);
    double a = 0, b = 0;
    for (uint32_t i = 0; i < n_; ++i) {
      a += cofactors[i] * direction[i];
      b += cofactors[i] * row.mean[i];
    }
    // The optimum is mean + alpha direction, where a alpha^2 + b alpha - n_rows = 0.
    const auto value = [&](double alpha) { return n_rows_ * std::log(std::abs(alpha * a + b)) - alpha * alpha * a / 2; };
    const double root = std::sqrt(b * b + 4 * a * n_rows_);
    const double first = (-b + root) / (2 * a), second = (-b - root) / (2 * a);
    const double alpha = value(first) >= value(second) ? first : second;
    double *const w = transform_.data() + size_t{d} * (n_ + 1);
    std::vector<double> change(n_ + 1);
    double moved = 0;
    for (uint32_t i = 0; i <= n_; ++i) {
      change[i] = row.mean[i] + alpha * direction[i] - w[i];
      w[i] += change[i];
      moved += change[i] * change[i];
    }
    replace_row(d, change);
    return moved;
  }

  // Updates the inverse of A after a change of its row d (Sherman and Morrison).
  void replace_row(uint32_t d, const std::vector<double> &change) {
    std::vector<double> column(n_), row(n_, 0);
    for (uint32_t i = 0; i < n_; ++i) column[i] = inverse_[size_t{i} * n_ + d];
    for (uint32_t i = 0; i < n_; ++i) {
      for (uint32_t j = 0; j < n_; ++j) row[j] += change[i] * inverse_[size_t{i} * n_ + j];
    }
    const double scale = 1 / (1 + row[d]);
    for (uint32_t i = 0; i < n_; ++i) {
      for (uint32_t j = 0; j < n_; ++j) inverse_[size_t{i} * n_ + j] -= scale * column[i] * row[j];
    }
  }
};

}  // namespace

FmllrPrior::FmllrPrior(const GaussianPosteriors &gaussians) {
  const AcousticModel &model = gaussians.model();
  moments.resize((size_t{model.n_dims} + 1) * (model.n_dims + 2) / 2);
  weights.resize(model.n_dims);
  const double share = 1.0 / model.n_states;
  for (uint32_t state = 0; state < model.n_states; ++state) {
    std::vector<double> means(size_t{model.n_dims} + 1, 0), squares(model.n_dims, 0);
    means.back() = 1;
    for (uint32_t s = 0; s < model.streams.size(); ++s) {
      const asr_gmm_codebook &codebook = gaussians.codebook(state, s);
      const float *const log_weights = gaussians.log_weights(state, s);
      double sum = 0;
      for (uint32_t k = 0; k < codebook.n_gaussians; ++k) sum += std::exp(static_cast<double>(log_weights[k]));
      for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
        const double weight = std::exp(static_cast<double>(log_weights[k])) / sum;
        const std::vector<uint32_t> &dims = model.streams[s].dims;
        for (size_t i = 0; i < dims.size(); ++i) {
          const auto mean = static_cast<double>(gaussians.mean(codebook, k)[i]);
          const auto precision = static_cast<double>(gaussians.precision(codebook, k)[i]);
          means[dims[i]] += weight * mean;
          squares[dims[i]] += weight * (mean * mean + 1 / precision);
          weights[dims[i]] += share * weight * precision;
        }
      }
    }
    size_t at = 0;
    for (uint32_t i = 0; i <= model.n_dims; ++i) {
      for (uint32_t j = 0; j <= i; ++j)
        moments[at++] += share * (i == j && i < model.n_dims ? squares[i] : means[i] * means[j]);
    }
  }
}

FmllrStatistics::FmllrStatistics(uint32_t n_dims)
    : n_dims_(n_dims),
      linear_(size_t{n_dims} * (n_dims + 1)),
      quadratic_(n_dims * n_triangle()),
      x_(size_t{n_dims} + 1, 1),
      outer_(n_triangle()) {}

void FmllrStatistics::add(const GaussianPosteriors &posteriors, const float *row, const float *transformed, uint32_t state) {
  const AcousticModel &model = posteriors.model();
  for (uint32_t i = 0; i < n_dims_; ++i) x_[i] = static_cast<double>(row[i]);
  double *outer = outer_.data();
  for (uint32_t r = 0; r <= n_dims_; ++r) {
    for (uint32_t c = 0; c <= r; ++c) *outer++ = x_[r] * x_[c];
  }
  for (uint32_t s = 0; s < model.streams.size(); ++s) {
    posteriors.of(transformed, state, s, &shares_);
    const asr_gmm_codebook &codebook = posteriors.codebook(state, s);
    const std::vector<uint32_t> &dims = model.streams[s].dims;
    weights_.assign(dims.size(), 0);
    means_.assign(dims.size(), 0);
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      if (shares_[k] < kMinShare) continue;
      const float *const precision = posteriors.precision(codebook, k), *const mean = posteriors.mean(codebook, k);
      for (size_t i = 0; i < dims.size(); ++i) {
        const double share = shares_[k] * static_cast<double>(precision[i]);
        weights_[i] += share;
        means_[i] += share * static_cast<double>(mean[i]);
      }
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      add_scaled(x_, means_[i], linear_.data() + size_t{dims[i]} * (n_dims_ + 1));
      add_scaled(outer_, weights_[i], quadratic_.data() + dims[i] * n_triangle());
    }
  }
  ++n_rows_;
}

FeatureTransform estimate_fmllr(const FmllrStatistics &statistics, const FmllrPrior &prior, double prior_rows) {
  const uint32_t n = statistics.n_dims_;
  if (statistics.n_rows_ == 0) return {};
  const size_t n_triangle = statistics.n_triangle();
  Solver solver(n, statistics.n_rows_ + prior_rows);
  for (uint32_t d = 0; d < n; ++d) {
    const double *const g = statistics.quadratic_.data() + d * n_triangle;
    const double *const k = statistics.linear_.data() + size_t{d} * (n + 1);
    std::vector<double> quadratic(g, g + n_triangle), linear(k, k + n + 1);
    const double weight = prior_rows * prior.weights[d];
    for (size_t i = 0; i < n_triangle; ++i) quadratic[i] += weight * prior.moments[i];
    for (uint32_t j = 0; j <= n; ++j) {
      const uint32_t r = std::max(d, j), c = std::min(d, j);
      linear[j] += weight * prior.moments[triangle_at(r, c)];
    }
    linear[d] -= prior_rows;
    if (!solver.set_row(d, std::move(quadratic), std::move(linear))) return {};
  }
  return solver.run();
}

}  // namespace asr
