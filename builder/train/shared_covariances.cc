// SPDX-License-Identifier: Apache-2.0
#include "builder/train/shared_covariances.h"

#include <algorithm>
#include <cmath>

#include "builder/train/matrix.h"

namespace asr::train {
namespace {

// Numbers of the mixtures of each group.
std::vector<std::vector<size_t>> groups_of(const MixtureModel &model) {
  const bool all = model.sharing == CovarianceSharing::kAll;
  std::vector<std::vector<size_t>> groups(all ? model.streams.size() : model.mixtures.size());
  for (size_t i = 0; i < model.mixtures.size(); ++i) groups[all ? model.mixtures[i].stream : i].push_back(i);
  return groups;
}

// A group has covariances in common over 1, or over the deviations of two dimensions: correlations. Dimensions without variance
// have none.
double scale_of(const MixtureModel &model, const double *covariance, size_t r, size_t c) {
  if (!model.shares_correlations) return 1;
  const double product = covariance[diagonal_at(r)] * covariance[diagonal_at(c)];
  return product > 0 ? std::sqrt(product) : 1;
}

// The mean of a group's covariances or correlations, and the sum of their weights: weight_of(mixture, k) is that of Gaussian k.
template <class WeightOf>
std::vector<double> mean_of_group(const MixtureModel &model, const std::vector<size_t> &group, const WeightOf &weight_of,
                                  double *sum) {
  std::vector<double> mean;
  *sum = 0;
  for (const size_t i : group) {
    const Mixture &mixture = model.mixtures[i];
    const size_t d = model.n_values(mixture), size = model.covariance_size(mixture);
    mean.resize(size);
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      const double weight = weight_of(mixture, k);
      *sum += weight;
      const double *const covariance = mixture.covariances.data() + k * size;
      for (size_t r = 0, at = 0; weight > 0 && r < d; ++r) {
        for (size_t c = 0; c <= r; ++c, ++at) mean[at] += weight * covariance[at] / scale_of(model, covariance, r, c);
      }
    }
  }
  for (double &value : mean) value /= *sum;
  return mean;
}

// Gives the mean to the group's Gaussians; of correlations, with their own variances. floor: nullptr, or that of T4.
void set_group(const std::vector<size_t> &group, const std::vector<double> &mean, const std::vector<double> *floor,
               MixtureModel *model) {
  for (const size_t i : group) {
    Mixture &mixture = model->mixtures[i];
    const size_t d = model->n_values(mixture), size = mean.size();
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      double *const own = mixture.covariances.data() + k * size;
      std::vector<double> covariance = mean;
      for (size_t r = 0, at = 0; model->shares_correlations && r < d; ++r) {
        for (size_t c = 0; c <= r; ++c, ++at) covariance[at] = r == c ? own[at] : mean[at] * scale_of(*model, own, r, c);
      }
      if (floor != nullptr) floor_covariance(&covariance, *floor);
      std::copy(covariance.begin(), covariance.end(), own);
    }
  }
}

}  // namespace

void begin_sharing(CovarianceSharing sharing, bool correlations, MixtureModel *model) {
  model->sharing = sharing;
  model->shares_correlations = correlations;
  if (sharing == CovarianceSharing::kNone) return;
  const auto weight_of = [](const Mixture &mixture, size_t k) {
    double sum = 0;
    for (size_t at = k; at < mixture.weights.size(); at += mixture.n_gaussians()) sum += mixture.weights[at];
    return sum / static_cast<double>(mixture.n_weight_rows());
  };
  for (const std::vector<size_t> &group : groups_of(*model)) {
    double sum = 0;
    set_group(group, mean_of_group(*model, group, weight_of, &sum), nullptr, model);
  }
}

void share_covariances(const EstimateOptions &options, ThreadPool *pool, MixtureModel *model) {
  if (model->sharing == CovarianceSharing::kNone) return;
  const std::vector<std::vector<size_t>> groups = groups_of(*model);
  const auto weight_of = [&](const Mixture &mixture, size_t k) {
    return mixture.occupancies[k] < options.min_frames ? 0 : mixture.occupancies[k];
  };
  pool->run(groups.size(), [&](size_t i) {
    double frames = 0;
    std::vector<double> mean = mean_of_group(*model, groups[i], weight_of, &frames);
    if (!(frames > 0)) return;
    const uint32_t stream = model->mixtures[groups[i].front()].stream;
    const std::vector<double> floor = floor_of_dims(options, model->streams[stream].dims);
    smooth(options, stream, frames, floor.size(), &mean);
    if (!model->shares_correlations) floor_covariance(&mean, floor);
    set_group(groups[i], mean, model->shares_correlations ? &floor : nullptr, model);
  });
}

}  // namespace asr::train
