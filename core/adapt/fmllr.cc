// SPDX-License-Identifier: Apache-2.0
// Estimates the transform row by row (Gales 1998, Maximum Likelihood Linear Transformations for HMM-Based Speech Recognition).
// Each row in turn is set to its optimum while the others stay, which needs the cofactors of that row and, with full
// covariances, a linear part that the other rows change (Povey and Saon 2006, Feature and Model Space Speaker Adaptation with
// Full Covariance Gaussians).
#include "core/adapt/fmllr.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace asr {
namespace {

constexpr int kMaxSweeps = 50;
constexpr double kMinMove = 1e-9;  // smallest sum of squared changes of a sweep that continues the iteration

void add_scaled(const std::vector<double> &values, double scale, double *sums) {
  for (size_t i = 0; i < values.size(); ++i) sums[i] += scale * values[i];
}

// Raises rows log|det A| + what the system adds, from the identity on. With full covariances a row's linear part depends on the
// other rows, so sweeps are needed that with diagonal ones only the determinant causes.
class Solver {
 public:
  // The system's rows are factorised.
  Solver(const RowSystem &system, double n_rows)
      : system_(system),
        n_(static_cast<uint32_t>(system.n_rows())),
        n_rows_(n_rows),
        transform_(size_t{n_} * (n_ + 1)),
        inverse_(size_t{n_} * n_) {
    for (uint32_t d = 0; d < n_; ++d) transform_[size_t{d} * (n_ + 1) + d] = inverse_[size_t{d} * n_ + d] = 1;
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
  const RowSystem &system_;
  const uint32_t n_;
  const double n_rows_;
  std::vector<double> transform_;  // [n][n + 1]
  std::vector<double> inverse_;    // [n][n], inverse of A

  // Sets row d to its optimum and returns the sum of its squared changes.
  double update(uint32_t d) {
    std::vector<double> mean = system_.linear_of(d, transform_);  // of the row's part without the determinant
    system_.solve_row(d, &mean);
    std::vector<double> cofactors(n_ + 1, 0);  // cofactors of the row without their common factor: column d of the inverse
    for (uint32_t i = 0; i < n_; ++i) cofactors[i] = inverse_[size_t{i} * n_ + d];
    std::vector<double> direction = cofactors;
    system_.solve_row(d, &direction);
    double a = 0, b = 0;
    for (uint32_t i = 0; i < n_; ++i) {
      a += cofactors[i] * direction[i];
      b += cofactors[i] * mean[i];
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
      change[i] = mean[i] + alpha * direction[i] - w[i];
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

// The covariance of a full precision, a lower triangle by rows. A bundle's precisions are positive definite.
std::vector<double> covariance_of(const float *precision, size_t d) {
  std::vector<double> factor(precision, precision + triangle_size(d)), covariance(triangle_size(d));
  if (!factorise(&factor, d)) return covariance;
  for (size_t c = 0; c < d; ++c) {
    std::vector<double> column(d);
    column[c] = 1;
    solve(factor, d, &column);
    for (size_t r = c; r < d; ++r) covariance[triangle_at(r, c)] = column[r];
  }
  return covariance;
}

// The expected moments of one state's rows, and its mean precision.
class StateMoments {
 public:
  explicit StateMoments(const AcousticModel &model)
      : model_(model),
        is_full_(model.covariance == ASR_COVARIANCE_FULL),
        means_(size_t{model.n_dims} + 1),
        squares_(is_full_ ? triangle_size(model.n_dims) : model.n_dims) {
    means_.back() = 1;
  }

  void add(const std::vector<uint32_t> &dims, const float *means, const float *precision, double weight, double share,
           FmllrPrior *prior) {
    const std::vector<double> covariance = is_full_ ? covariance_of(precision, dims.size()) : std::vector<double>();
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto mean = static_cast<double>(means[i]);
      means_[dims[i]] += weight * mean;
      if (!is_full_) {
        squares_[dims[i]] += weight * (mean * mean + 1 / static_cast<double>(precision[i]));
        prior->precisions[dims[i]] += share * weight * static_cast<double>(precision[i]);
        continue;
      }
      for (size_t j = 0; j <= i; ++j) {
        const size_t at = triangle_at(std::max(dims[i], dims[j]), std::min(dims[i], dims[j])), own = triangle_at(i, j);
        squares_[at] += weight * (mean * static_cast<double>(means[j]) + covariance[own]);
        prior->precisions[at] += share * weight * static_cast<double>(precision[own]);
      }
    }
  }

  // Adds the moments. Values of different streams, and with diagonal covariances all different values, are independent.
  void add_to(FmllrPrior *prior, double share) const {
    std::vector<uint32_t> stream_of(model_.n_dims);
    for (uint32_t s = 0; s < model_.streams.size(); ++s) {
      for (const uint32_t dim : model_.streams[s].dims) stream_of[dim] = s;
    }
    size_t at = 0;
    for (uint32_t i = 0; i <= model_.n_dims; ++i) {
      for (uint32_t j = 0; j <= i; ++j, ++at) {
        const bool is_own = i < model_.n_dims && (is_full_ ? stream_of[i] == stream_of[j] : i == j);
        prior->moments[at] += share * (is_own ? squares_[is_full_ ? at : i] : means_[i] * means_[j]);
      }
    }
  }

 private:
  const AcousticModel &model_;
  const bool is_full_;
  std::vector<double> means_, squares_;
};

}  // namespace

FmllrPrior::FmllrPrior(const GaussianPosteriors &gaussians) {
  const AcousticModel &model = gaussians.model();
  moments.resize(triangle_size(size_t{model.n_dims} + 1));
  precisions.resize(gaussians.is_full() ? triangle_size(model.n_dims) : model.n_dims);
  const double share = 1.0 / model.n_states;
  for (uint32_t state = 0; state < model.n_states; ++state) {
    StateMoments of_state(model);
    for (uint32_t s = 0; s < model.streams.size(); ++s) {
      const asr_gmm_codebook &codebook = gaussians.codebook(state, s);
      const float *const log_weights = gaussians.log_weights(state, s);
      double sum = 0;
      for (uint32_t k = 0; k < codebook.n_gaussians; ++k) sum += std::exp(static_cast<double>(log_weights[k]));
      for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
        const double weight = std::exp(static_cast<double>(log_weights[k])) / sum;
        of_state.add(model.streams[s].dims, gaussians.mean(codebook, k), gaussians.precision(codebook, k), weight, share, this);
      }
    }
    of_state.add_to(this, share);
  }
}

void FmllrPrior::add_to(RowSystem *system, const std::vector<size_t> &places, double n_rows) const {
  const size_t n = places.size() - 1;
  const auto at = [&](size_t i, size_t j) {
    return triangle_at(std::max(places[i], places[j]), std::min(places[i], places[j]));
  };
  std::vector<double> outer, weights;
  for (size_t i = 0; i <= n; ++i) {
    for (size_t j = 0; j <= i; ++j) outer.push_back(moments[at(i, j)]);
  }
  const bool is_full = system->is_coupled();
  for (size_t d = 0; d < n; ++d) {
    for (size_t e = is_full ? 0 : d; e <= d; ++e) weights.push_back(n_rows * precisions[is_full ? at(d, e) : places[d]]);
  }
  system->add(weights.data(), outer.data());
  for (size_t d = 0; d < n; ++d) {
    for (size_t e = is_full ? 0 : d; e < (is_full ? n : d + 1); ++e) {
      const double weight = n_rows * precisions[is_full ? at(d, e) : places[d]];
      for (size_t j = 0; j <= n; ++j) system->linear(d)[j] += weight * moments[at(e, j)];
    }
  }
}

FmllrStatistics::FmllrStatistics(const AcousticModel &model)
    : n_dims_(model.n_dims), x_(size_t{n_dims_} + 1, 1), outer_(triangle_size(size_t{n_dims_} + 1)) {
  if (model.covariance == ASR_COVARIANCE_FULL) {
    sums_.resize(model.n_gaussians());
  } else {
    system_.emplace(n_dims_, x_.size(), false);
  }
}

void FmllrStatistics::add(const GaussianPosteriors &posteriors, const float *row, const float *transformed, uint32_t state) {
  const AcousticModel &model = posteriors.model();
  for (uint32_t i = 0; i < n_dims_; ++i) x_[i] = static_cast<double>(row[i]);
  double *outer = outer_.data();
  for (uint32_t r = 0; r <= n_dims_; ++r) {
    for (uint32_t c = 0; c <= r; ++c) *outer++ = x_[r] * x_[c];
  }
  weights_.assign(n_dims_, 0);
  for (uint32_t s = 0; s < model.streams.size(); ++s) {
    posteriors.of(transformed, state, s, &shares_);
    const asr_gmm_codebook &codebook = posteriors.codebook(state, s);
    if (system_) {
      add_diagonal(posteriors, codebook);
    } else {
      add_full(codebook);
    }
  }
  if (system_) system_->add(weights_.data(), outer_.data());
  ++n_rows_;
}

void FmllrStatistics::add_diagonal(const GaussianPosteriors &posteriors, const asr_gmm_codebook &codebook) {
  const std::vector<uint32_t> &dims = posteriors.model().streams[codebook.stream].dims;
  std::vector<double> means(dims.size());
  for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
    if (shares_[k] < kMinShare) continue;
    const float *const precision = posteriors.precision(codebook, k), *const mean = posteriors.mean(codebook, k);
    for (size_t i = 0; i < dims.size(); ++i) {
      const double share = shares_[k] * static_cast<double>(precision[i]);
      weights_[dims[i]] += share;
      means[i] += share * static_cast<double>(mean[i]);
    }
  }
  for (size_t i = 0; i < dims.size(); ++i) add_scaled(x_, means[i], system_->linear(dims[i]));
}

// Precisions times these sums are the system: that is as much work for a Gaussian as for a row.
void FmllrStatistics::add_full(const asr_gmm_codebook &codebook) {
  for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
    if (shares_[k] < kMinShare) continue;
    std::vector<double> &sums = sums_[codebook.first_gaussian + k];
    sums.resize(outer_.size());
    add_scaled(outer_, shares_[k], sums.data());
  }
}

namespace {

// Adds a Gaussian's sums, as FmllrStatistics has them, to the system of all values.
void add_gaussian(const std::vector<uint32_t> &dims, const float *mean, const float *precision, const std::vector<double> &sums,
                  RowSystem *system) {
  const size_t n = system->n_rows();
  std::vector<double> weights(triangle_size(n));
  const double *const last = sums.data() + triangle_size(n);  // sum of share times x
  for (size_t i = 0; i < dims.size(); ++i) {
    double scaled_mean = 0;
    for (size_t j = 0; j < dims.size(); ++j) {
      const auto p = static_cast<double>(precision[triangle_at(std::max(i, j), std::min(i, j))]);
      weights[triangle_at(std::max(dims[i], dims[j]), std::min(dims[i], dims[j]))] = p;
      scaled_mean += p * static_cast<double>(mean[j]);
    }
    for (size_t j = 0; j <= n; ++j) system->linear(dims[i])[j] += scaled_mean * last[j];
  }
  system->add(weights.data(), sums.data());
}

}  // namespace

FeatureTransform estimate_fmllr(const FmllrStatistics &statistics, const GaussianPosteriors &posteriors,
                                const FmllrPrior &prior, double prior_rows) {
  const uint32_t n = statistics.n_dims_;
  if (statistics.n_rows_ == 0) return {};
  RowSystem system = statistics.system_ ? *statistics.system_ : RowSystem(n, size_t{n} + 1, true);
  for (const asr_gmm_codebook &codebook : posteriors.model().codebooks) {
    if (!system.is_coupled()) break;
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      const std::vector<double> &sums = statistics.sums_[codebook.first_gaussian + k];
      if (sums.empty()) continue;
      const std::vector<uint32_t> &dims = posteriors.model().streams[codebook.stream].dims;
      add_gaussian(dims, posteriors.mean(codebook, k), posteriors.precision(codebook, k), sums, &system);
    }
  }
  std::vector<size_t> places(size_t{n} + 1);
  std::iota(places.begin(), places.end(), size_t{0});
  prior.add_to(&system, places, prior_rows);
  for (uint32_t d = 0; d < n; ++d) system.linear(d)[d] -= prior_rows;
  if (!system.factorise_rows()) return {};
  return Solver(system, statistics.n_rows_ + prior_rows).run();
}

}  // namespace asr
