// SPDX-License-Identifier: Apache-2.0
// Each row of the transform has its own least-squares problem, unless full covariances couple them. Source: Leggetter and
// Woodland 1995, Maximum Likelihood Linear Regression for Speaker Adaptation of Continuous Density Hidden Markov Models.
#include "core/adapt/mllr.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/adapt/row_system.h"

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

// The rows of one feature stream: the w that minimise the sum over d, e of w_d G_de w_e / 2 - w_d . k_d.
class StreamProblem {
 public:
  StreamProblem(const std::vector<uint32_t> &dims, uint32_t n_dims, bool is_full)
      : dims_(dims), n_dims_(n_dims), size_(dims.size() + 1), system_(dims.size(), size_, is_full), extended_(size_, 1) {
    outer_.reserve(triangle_size(size_));
  }

  // sums: as MllrStatistics has them of a Gaussian.
  void add(const float *mean, const float *precision, const std::vector<double> &sums) {
    for (size_t i = 0; i < dims_.size(); ++i) extended_[i] = static_cast<double>(mean[i]);
    outer_.clear();
    for (size_t r = 0; r < size_; ++r) {
      for (size_t c = 0; c <= r; ++c) outer_.push_back(extended_[r] * extended_[c]);
    }
    weights_.clear();
    const size_t n_precisions = system_.is_coupled() ? triangle_size(dims_.size()) : dims_.size();
    for (size_t i = 0; i < n_precisions; ++i) weights_.push_back(static_cast<double>(precision[i]) * sums[0]);
    system_.add(weights_.data(), outer_.data());
    for (size_t d = 0; d < dims_.size(); ++d) {
      const double scaled = times_precision(precision, sums.data() + 1, d);
      for (size_t i = 0; i < size_; ++i) system_.linear(d)[i] += scaled * extended_[i];
    }
  }

  // The prior's optimum is the identity: its linear term is its quadratic term times the identity's rows.
  void add_prior(const FmllrPrior &prior, double n_rows) {
    std::vector<size_t> places(dims_.begin(), dims_.end());
    places.push_back(n_dims_);
    prior.add_to(&system_, places, n_rows);
  }

  // Writes the stream's rows of the transform; false if they are not determined.
  bool solve_into(FeatureTransform *transform) {
    if (!system_.factorise_rows()) return false;
    const std::vector<double> rows = system_.is_coupled() ? coupled_rows() : rows_apart();
    for (size_t d = 0; d < dims_.size(); ++d) {
      float *const w = transform->matrix.data() + size_t{dims_[d]} * (n_dims_ + 1);
      for (size_t i = 0; i < size_; ++i) w[i < dims_.size() ? dims_[i] : n_dims_] = static_cast<float>(rows[d * size_ + i]);
    }
    return true;
  }

 private:
  std::vector<double> rows_apart() const {
    std::vector<double> rows;
    for (size_t d = 0; d < dims_.size(); ++d) {
      std::vector<double> row = system_.linear_of(d, {});
      system_.solve_row(d, &row);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
  }
  std::vector<double> coupled_rows() const {
    std::vector<double> rows(dims_.size() * size_);
    for (size_t d = 0; d < dims_.size(); ++d) rows[d * size_ + d] = 1;
    system_.maximise(&rows);
    return rows;
  }

  // Value d of the precision times x.
  double times_precision(const float *precision, const double *x, size_t d) const {
    if (!system_.is_coupled()) return static_cast<double>(precision[d]) * x[d];
    double sum = 0;
    for (size_t e = 0; e < dims_.size(); ++e) {
      sum += static_cast<double>(precision[triangle_at(std::max(d, e), std::min(d, e))]) * x[e];
    }
    return sum;
  }

  const std::vector<uint32_t> &dims_;
  const uint32_t n_dims_;
  const size_t size_;  // values of the stream, and the 1 after them
  RowSystem system_;
  std::vector<double> extended_, outer_, weights_;  // scratch: (mu, 1), its outer product, precisions times frames
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
  for (const GmmStream &stream : model.streams) problems.emplace_back(stream.dims, model.n_dims, original.is_full());
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
