// SPDX-License-Identifier: Apache-2.0
#include "builder/train/shrink.h"

#include <algorithm>
#include <cmath>

#include "builder/train/matrix.h"
#include "builder/train/precisions.h"
#include "core/base/cholesky.h"
#include "core/base/error.h"

namespace asr::train {
namespace {

// Returns the weight of each covariance: the sum of its Gaussians' weights in all states.
std::vector<double> weights_of_covariances(const AcousticModel &model) {
  std::vector<double> weights(model.precision_at.size());
  for (size_t cell = 0; cell < model.state_codebook.size(); ++cell) {
    const asr_gmm_codebook &codebook = model.codebooks[model.state_codebook[cell]];
    const float *const log_weights = model.log_weights.data() + model.state_weight[cell];
    double sum = 0;
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) sum += std::exp(static_cast<double>(log_weights[k]));
    if (sum == 0) continue;  // a state without likelihood
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      weights[model.covariance_of[codebook.first_gaussian + k]] += std::exp(static_cast<double>(log_weights[k])) / sum;
    }
  }
  return weights;
}

std::vector<double> correlations_of(const std::vector<double> &covariance, size_t d) {
  std::vector<double> correlations;
  for (size_t r = 0; r < d; ++r) {
    for (size_t c = 0; c <= r; ++c) {
      correlations.push_back(covariance[triangle_at(r, c)] /
                             std::sqrt(covariance[diagonal_at(r)] * covariance[diagonal_at(c)]));
    }
  }
  return correlations;
}

}  // namespace

void shrink_covariances(double share, bool to_shared, const std::string &source, AcousticModel *model) {
  if (share <= 0 || model->covariance != ASR_COVARIANCE_FULL) return;
  std::vector<uint32_t> stream_of(model->precision_at.size());
  for (const asr_gmm_codebook &codebook : model->codebooks) {
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      stream_of[model->covariance_of[codebook.first_gaussian + k]] = codebook.stream;
    }
  }
  const std::vector<double> weights = weights_of_covariances(*model);
  std::vector<std::vector<double>> means(model->streams.size());  // mean correlations of each stream
  std::vector<double> sums(means.size());
  const auto dims = [&](size_t i) { return model->streams[stream_of[i]].dims.size(); };
  const auto covariance = [&](size_t i) {
    const float *const precision = model->precisions.data() + model->precision_at[i];
    std::vector<double> values(precision, precision + dims(i) * (dims(i) + 1) / 2);
    if (!factorise(&values, dims(i))) {
      fail(ASR_BAD_FILE, "%s: a covariance is not positive definite; correct the model that is imported", source.c_str());
    }
    return inverse_of_factor(values, dims(i));
  };
  for (size_t i = 0; to_shared && i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const std::vector<double> correlations = correlations_of(covariance(i), dims(i));
    std::vector<double> &mean = means[stream_of[i]];
    mean.resize(correlations.size());
    for (size_t at = 0; at < mean.size(); ++at) mean[at] += weights[i] * correlations[at];
    sums[stream_of[i]] += weights[i];
  }
  for (size_t stream = 0; stream < means.size(); ++stream) {
    for (double &value : means[stream]) value /= sums[stream];
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    std::vector<double> shrunk = covariance(i);
    shrink_correlations(means[stream_of[i]], 1 - share, &shrunk, dims(i));
    const std::vector<float> precision = rounded_precision(std::move(shrunk), dims(i), true);
    if (precision.empty()) fail(ASR_BAD_FILE, "%s: a covariance is nearly singular; raise --smooth", source.c_str());
    std::copy(precision.begin(), precision.end(), model->precisions.begin() + static_cast<ptrdiff_t>(model->precision_at[i]));
  }
  model->validate(source);
}

}  // namespace asr::train
