// SPDX-License-Identifier: Apache-2.0
// Each row of the transform has its own least-squares problem. Source: Leggetter and Woodland 1995, Maximum Likelihood
// Linear Regression for Speaker Adaptation of Continuous Density Hidden Markov Models.
#include "core/adapt/mllr.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/cholesky.h"

namespace asr {
namespace {

std::vector<float> transformed_means(const AcousticModel &model, const FeatureTransform &by) {
  std::vector<float> means = model.means;
  if (by.n_dims == 0) return means;
  constexpr double kMax = std::numeric_limits<float>::max();
  for (const asr_gmm_codebook &codebook : model.codebooks) {
    const std::vector<uint32_t> &dims = model.streams[codebook.stream].dims;
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      const size_t first = codebook.first_mean + k * dims.size();
      for (size_t i = 0; i < dims.size(); ++i) {
        const float *const w = by.matrix.data() + size_t{dims[i]} * (by.n_dims + 1);
        auto sum = static_cast<double>(w[by.n_dims]);
        for (size_t j = 0; j < dims.size(); ++j)
          sum += static_cast<double>(w[dims[j]]) * static_cast<double>(model.means[first + j]);
        means[first + i] = static_cast<float>(std::clamp(sum, -kMax, kMax));
      }
    }
  }
  return means;
}

// The problems of one feature stream: for each of its values d, the w that minimises w G w' - 2 w . k.
class StreamProblem {
 public:
  StreamProblem(const std::vector<uint32_t> &dims, uint32_t n_dims)
      : dims_(dims),
        n_dims_(n_dims),
        size_(dims.size() + 1),
        quadratic_(dims.size(), std::vector<double>(triangle_size(size_))),
        linear_(dims.size(), std::vector<double>(size_)),
        extended_(size_, 1),
        outer_(triangle_size(size_)) {}

  // sums: as MllrStatistics has them of a Gaussian.
  void add(const float *mean, const float *precision, const std::vector<double> &sums) {
    for (size_t i = 0; i < dims_.size(); ++i) extended_[i] = static_cast<double>(mean[i]);
    double *outer = outer_.data();
    for (size_t r = 0; r < size_; ++r) {
      for (size_t c = 0; c <= r; ++c) *outer++ = extended_[r] * extended_[c];
    }
    for (size_t d = 0; d < dims_.size(); ++d) {
      const auto p = static_cast<double>(precision[d]);
      for (size_t i = 0; i < outer_.size(); ++i) quadratic_[d][i] += p * sums[0] * outer_[i];
      for (size_t i = 0; i < size_; ++i) linear_[d][i] += p * sums[1 + d] * extended_[i];
    }
  }

  // The prior's optimum is the identity: its linear term is its quadratic term times the identity's row.
  void add_prior(const FmllrPrior &prior, double n_rows) {
    for (size_t d = 0; d < dims_.size(); ++d) {
      const double weight = n_rows * prior.weights[dims_[d]];
      size_t at = 0;
      for (size_t r = 0; r < size_; ++r) {
        for (size_t c = 0; c <= r; ++c) quadratic_[d][at++] += weight * moment(prior, r, c);
        linear_[d][r] += weight * moment(prior, r, d);
      }
    }
  }

  // Writes the stream's rows of the transform; false if they are not determined.
  bool solve_into(FeatureTransform *transform) {
    for (size_t d = 0; d < dims_.size(); ++d) {
      if (!factorise(&quadratic_[d], size_)) return false;
      solve(quadratic_[d], size_, &linear_[d]);
      float *const w = transform->matrix.data() + size_t{dims_[d]} * (n_dims_ + 1);
      for (size_t i = 0; i < size_; ++i) w[column(i)] = static_cast<float>(linear_[d][i]);
    }
    return true;
  }

 private:
  size_t column(size_t i) const { return i < dims_.size() ? dims_[i] : n_dims_; }
  double moment(const FmllrPrior &prior, size_t i, size_t j) const {
    const size_t r = std::max(column(i), column(j)), c = std::min(column(i), column(j));
    return prior.moments[triangle_at(r, c)];
  }

  const std::vector<uint32_t> &dims_;
  const uint32_t n_dims_;
  const size_t size_;                           // values of the stream, and the 1 after them
  std::vector<std::vector<double>> quadratic_;  // lower triangles of G
  std::vector<std::vector<double>> linear_;     // k
  std::vector<double> extended_, outer_;        // scratch: (mu, 1), and its outer product
};

}  // namespace

AdaptedMeans::AdaptedMeans(const AcousticModel &model, FeatureTransform by)
    : transform(std::move(by)), means(transformed_means(model, transform)) {}

void MllrStatistics::add(const GaussianPosteriors &adapted, const float *row, uint32_t state) {
  const AcousticModel &model = adapted.model();
  for (uint32_t s = 0; s < model.streams.size(); ++s) {
    adapted.of(row, state, s, &shares_);
    const asr_gmm_codebook &codebook = adapted.codebook(state, s);
    const std::vector<uint32_t> &dims = model.streams[s].dims;
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      const double share = shares_[k];
      if (share < kMinShare) continue;
      std::vector<double> &sums = sums_[codebook.first_gaussian + k];
      sums.resize(1 + dims.size());
      sums[0] += share;
      for (size_t i = 0; i < dims.size(); ++i) sums[1 + i] += share * static_cast<double>(row[dims[i]]);
    }
  }
}

FeatureTransform estimate_mllr(const MllrStatistics &statistics, const GaussianPosteriors &original, const FmllrPrior &prior,
                               double prior_rows) {
  const AcousticModel &model = original.model();
  std::vector<StreamProblem> problems;
  for (const GmmStream &stream : model.streams) problems.emplace_back(stream.dims, model.n_dims);
  bool is_empty = true;
  for (const asr_gmm_codebook &codebook : model.codebooks) {
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      const std::vector<double> &sums = statistics.sums_[codebook.first_gaussian + k];
      if (sums.empty()) continue;
      is_empty = false;
      problems[codebook.stream].add(original.mean(codebook, k), original.precision(codebook, k), sums);
    }
  }
  if (is_empty) return {};
  FeatureTransform transform{model.n_dims, std::vector<float>(size_t{model.n_dims} * (model.n_dims + 1))};
  for (StreamProblem &problem : problems) {
    problem.add_prior(prior, prior_rows);
    if (!problem.solve_into(&transform)) return {};
  }
  return transform;
}

}  // namespace asr
