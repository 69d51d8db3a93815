// SPDX-License-Identifier: Apache-2.0
#include "builder/train/shared_covariances.h"

#include <algorithm>

namespace asr::train {
namespace {

// Numbers of the mixtures of each group.
std::vector<std::vector<size_t>> groups_of(const MixtureModel &model) {
  const bool all = model.sharing == CovarianceSharing::kAll;
  std::vector<std::vector<size_t>> groups(all ? model.streams.size() : model.mixtures.size());
  for (size_t i = 0; i < model.mixtures.size(); ++i) groups[all ? model.mixtures[i].stream : i].push_back(i);
  return groups;
}

// The mean of a group's covariances, and the sum of their weights: weight_of(mixture, k) is that of Gaussian k.
template <class WeightOf>
std::vector<double> mean_covariance(const MixtureModel &model, const std::vector<size_t> &group, const WeightOf &weight_of,
                                    double *sum) {
  std::vector<double> mean;
  *sum = 0;
  for (const size_t i : group) {
    const Mixture &mixture = model.mixtures[i];
    const size_t size = model.covariance_size(mixture);
    mean.resize(size);
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      const double weight = weight_of(mixture, k);
      *sum += weight;
      for (size_t at = 0; at < size; ++at) mean[at] += weight * mixture.covariances[k * size + at];
    }
  }
  for (double &value : mean) value /= *sum;
  return mean;
}

void set_covariance(const std::vector<size_t> &group, const std::vector<double> &covariance, MixtureModel *model) {
  for (const size_t i : group) {
    std::vector<double> &all = model->mixtures[i].covariances;
    for (auto at = all.begin(); at != all.end(); at += static_cast<ptrdiff_t>(covariance.size())) {
      std::copy(covariance.begin(), covariance.end(), at);
    }
  }
}

}  // namespace

void begin_sharing(CovarianceSharing sharing, MixtureModel *model) {
  model->sharing = sharing;
  if (sharing == CovarianceSharing::kNone) return;
  const auto weight_of = [](const Mixture &mixture, size_t k) {
    double sum = 0;
    for (size_t at = k; at < mixture.weights.size(); at += mixture.n_gaussians()) sum += mixture.weights[at];
    return sum / static_cast<double>(mixture.n_weight_rows());
  };
  for (const std::vector<size_t> &group : groups_of(*model)) {
    double sum = 0;
    set_covariance(group, mean_covariance(*model, group, weight_of, &sum), model);
  }
}

void share_covariances(const EstimateOptions &options, ThreadPool *pool, MixtureModel *model) {
  if (model->sharing == CovarianceSharing::kNone) return;
  const std::vector<std::vector<size_t>> groups = groups_of(*model);
  const auto weight_of = [&](const Mixture &mixture, size_t k) {
    return mixture.occupancies[k] < options.least_frames ? 0 : mixture.occupancies[k];
  };
  pool->run(groups.size(), [&](size_t i) {
    double frames = 0;
    std::vector<double> covariance = mean_covariance(*model, groups[i], weight_of, &frames);
    if (!(frames > 0)) return;
    const uint32_t stream = model->mixtures[groups[i].front()].stream;
    smooth_and_floor(options, stream, floor_of_dims(options, model->streams[stream].dims), frames, &covariance);
    set_covariance(groups[i], covariance, model);
  });
}

}  // namespace asr::train
