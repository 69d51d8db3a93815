// SPDX-License-Identifier: Apache-2.0
// A row of the transform is set to its optimum while the other rows stay, which needs the cofactors of that row only. All
// covariances are read once a sweep, row by row of the transform on several threads; the sums do not depend on their number.
#include "builder/train/semi_tied.h"

#include <cmath>
#include <numeric>

#include "builder/train/matrix.h"
#include "core/base/cholesky.h"

namespace asr::train {
namespace {

constexpr int kMaxSweeps = 100, kUpdatesOfSweep = 10;
constexpr double kMinRise = 1e-5;  // least rise of a sweep, in log-likelihood per frame

// a W a' of a lower triangle W.
double variance_along(const double *a, const double *triangle, size_t d) {
  double sum = 0;
  for (size_t r = 0; r < d; triangle += ++r) {
    double beside = 0;
    for (size_t c = 0; c < r; ++c) beside += triangle[c] * a[c];
    sum += a[r] * (2 * beside + triangle[r] * a[r]);
  }
  return sum;
}

class Solver {
 public:
  Solver(const WeightedCovariances &covariances, ThreadPool *pool)
      : covariances_(covariances),
        pool_(pool),
        d_(covariances.d),
        all_frames_(std::accumulate(covariances.weights.begin(), covariances.weights.end(), 0.0)),
        transform_(d_ * d_),
        inverse_(d_ * d_),
        factors_(d_),
        log_variances_(d_) {
    for (size_t i = 0; i < d_; ++i) transform_[i * d_ + i] = 1;
  }

  std::vector<double> run() {
    double last = -INFINITY;
    for (int sweep = 0; all_frames_ > 0 && sweep < kMaxSweeps; ++sweep) {
      inverse_ = transform_;
      const double log_determinant = invert_square(&inverse_, d_);
      pool_->run(d_, [&](size_t i) { set_row_problem(i); });
      const double sum = std::accumulate(log_variances_.begin(), log_variances_.end(), 0.0);
      const double log_likelihood = log_determinant - sum / all_frames_ / 2;
      if (!(log_likelihood > last + kMinRise)) break;
      last = log_likelihood;
      for (int update = 0; update < kUpdatesOfSweep; ++update) {
        for (size_t i = 0; i < d_; ++i) update_row(i);
      }
    }
    std::vector<double> matrix = transform_;
    const double scale = std::exp(-invert_square(&matrix, d_) / static_cast<double>(d_));
    for (double &value : transform_) value *= scale;
    return transform_;
  }

 private:
  // Sets the row's variance in each Gaussian to its optimum, and factorises G_i.
  void set_row_problem(size_t i) {
    const size_t size = d_ * (d_ + 1) / 2;
    std::vector<double> sums(size);
    log_variances_[i] = 0;
    for (size_t k = 0; k < covariances_.weights.size(); ++k) {
      const double *const triangle = covariances_.triangles[k];
      const double variance = variance_along(&transform_[i * d_], triangle, d_);
      const double weight = covariances_.weights[k] / variance;
      log_variances_[i] += covariances_.weights[k] * std::log(variance);
      for (size_t at = 0; at < size; ++at) sums[at] += weight * triangle[at];
    }
    if (!factorise(&sums, d_)) sums.clear();
    factors_[i] = std::move(sums);
  }

  // a_i = c G_i^-1 sqrt(n / (c G_i^-1 c')), where c is any multiple of the row's cofactors: column i of the inverse.
  void update_row(size_t i) {
    if (factors_[i].empty()) return;
    std::vector<double> cofactors(d_);
    for (size_t j = 0; j < d_; ++j) cofactors[j] = inverse_[j * d_ + i];
    std::vector<double> row = cofactors;
    solve(factors_[i], d_, &row);
    const double scale = std::sqrt(all_frames_ / std::inner_product(row.begin(), row.end(), cofactors.begin(), 0.0));
    for (double &value : row) value *= scale;
    // The inverse after the change of the row (Sherman and Morrison).
    std::vector<double> across(d_);
    for (size_t j = 0; j < d_; ++j) {
      const double change = row[j] - transform_[i * d_ + j];
      for (size_t c = 0; c < d_; ++c) across[c] += change * inverse_[j * d_ + c];
    }
    const double ratio = 1 / (1 + across[i]);
    for (size_t r = 0; r < d_; ++r) {
      for (size_t c = 0; c < d_; ++c) inverse_[r * d_ + c] -= ratio * cofactors[r] * across[c];
    }
    std::copy(row.begin(), row.end(), transform_.begin() + static_cast<ptrdiff_t>(i * d_));
  }

  const WeightedCovariances &covariances_;
  ThreadPool *const pool_;
  const size_t d_;
  const double all_frames_;
  std::vector<double> transform_, inverse_;   // [d][d]
  std::vector<std::vector<double>> factors_;  // factor of each row's G; empty if it is not positive definite
  std::vector<double> log_variances_;         // weighted sum of each row over the Gaussians
};

// New means and full covariances of a mixture's Gaussians, where enough frames say them.
struct Estimates {
  std::vector<double> frames;     // [n_gaussians]; 0: too few
  std::vector<double> means;      // [n_gaussians][d]
  std::vector<double> triangles;  // [n_gaussians][d * (d + 1) / 2]
};

Estimates estimates_of(const Statistics &statistics, const EstimateOptions &options) {
  const Mixture &mixture = statistics.mixture;
  const size_t n = mixture.n_gaussians(), d = statistics.dims.size(), size = d * (d + 1) / 2;
  Estimates result{std::vector<double>(n), mixture.means, std::vector<double>(n * size)};
  for (size_t k = 0; k < n; ++k) {
    double frames = 0;
    for (size_t at = k; at < statistics.occupancies.size(); at += n) frames += statistics.occupancies[at];
    double *const triangle = &result.triangles[k * size];
    if (frames < options.min_frames) {
      for (size_t i = 0; i < d; ++i) triangle[diagonal_at(i)] = mixture.covariances[k * d + i];
      continue;
    }
    result.frames[k] = frames;
    const double *const first = &statistics.first[k * d], *const second = &statistics.second[k * size];
    for (size_t r = 0; r < d; ++r) {
      result.means[k * d + r] += first[r] / frames;
      for (size_t c = 0; c <= r; ++c) {
        const size_t at = triangle_at(r, c);
        triangle[at] = second[at] / frames - first[r] / frames * (first[c] / frames);
      }
      triangle[diagonal_at(r)] = std::max(triangle[diagonal_at(r)], 0.0) + options.variance_floor[r];
    }
  }
  return result;
}

void transform_mixture(const std::vector<double> &matrix, const Estimates &estimates, size_t d, Mixture *mixture) {
  for (size_t k = 0; k < mixture->n_gaussians(); ++k) {
    const double *const mean = &estimates.means[k * d], *const triangle = &estimates.triangles[k * (d * (d + 1) / 2)];
    for (size_t i = 0; i < d; ++i) {
      const double *const row = &matrix[i * d];
      mixture->means[k * d + i] = std::inner_product(row, row + d, mean, 0.0);
      mixture->covariances[k * d + i] = variance_along(row, triangle, d);
    }
  }
}

}  // namespace

std::vector<double> semi_tied_transform(const WeightedCovariances &covariances, ThreadPool *pool) {
  return Solver(covariances, pool).run();
}

std::vector<double> make_semi_tied(const TrainingRows &rows, const EstimateOptions &options, ThreadPool *pool,
                                   MixtureModel *model) {
  const size_t d = model->n_dims;
  std::vector<Estimates> estimates(model->mixtures.size());
  sum_statistics(rows, *model, true, pool,
                 [&](size_t mixture, const Statistics &statistics) { estimates[mixture] = estimates_of(statistics, options); });
  WeightedCovariances covariances;
  covariances.d = d;
  for (const Estimates &of_mixture : estimates) {
    for (size_t k = 0; k < of_mixture.frames.size(); ++k) {
      if (of_mixture.frames[k] == 0) continue;
      covariances.weights.push_back(of_mixture.frames[k]);
      covariances.triangles.push_back(&of_mixture.triangles[k * d * (d + 1) / 2]);
    }
  }
  std::vector<double> matrix = semi_tied_transform(covariances, pool);
  pool->run(estimates.size(), [&](size_t i) { transform_mixture(matrix, estimates[i], d, &model->mixtures[i]); });
  return matrix;
}

bool may_be_semi_tied(const std::vector<GmmStream> &streams, uint32_t n_dims) {
  std::vector<uint32_t> all(n_dims);
  std::iota(all.begin(), all.end(), 0);
  return streams.size() == 1 && streams[0].dims == all;
}

void append_transform(const std::vector<double> &matrix, FrontEnd *front_end) {
  const uint32_t d = front_end->n_dims();
  if (front_end->transform.empty()) {
    front_end->transform.assign(matrix.begin(), matrix.end());
    front_end->transform_rows = front_end->transform_cols = d;
    return;
  }
  const std::vector<double> before(front_end->transform.begin(), front_end->transform.end());
  const std::vector<double> composed = product(matrix, before, d);
  front_end->transform.assign(composed.begin(), composed.end());
}

std::vector<double> product(const std::vector<double> &left, const std::vector<double> &right, size_t d) {
  const size_t n_cols = right.size() / d;
  std::vector<double> result(right.size());
  for (size_t r = 0; r < d; ++r) {
    for (size_t k = 0; k < d; ++k) {
      for (size_t c = 0; c < n_cols; ++c) result[r * n_cols + c] += left[r * d + k] * right[k * n_cols + c];
    }
  }
  return result;
}

}  // namespace asr::train
