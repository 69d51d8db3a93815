// SPDX-License-Identifier: Apache-2.0
#include "builder/train/shared_covariances.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "builder/train/matrix.h"

namespace asr::train {
namespace {

constexpr int kFirstRounds = 20;  // of the first division into classes; few are needed until none changes

struct Member {
  size_t mixture, k;
};
using Group = std::vector<Member>;
using WeightOf = std::function<double(const Mixture &mixture, size_t k)>;

// The Gaussians of each group. Groups without any are left out.
std::vector<Group> groups_of(const MixtureModel &model) {
  std::vector<Group> groups;
  for (size_t stream = 0; stream < model.streams.size(); ++stream) {
    std::vector<Group> of_stream(1);
    for (size_t i = 0; i < model.mixtures.size(); ++i) {
      const Mixture &mixture = model.mixtures[i];
      if (mixture.stream != stream) continue;
      if (model.sharing == CovarianceSharing::kState) of_stream.emplace_back();
      for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
        const bool has_classes = model.sharing == CovarianceSharing::kClasses;
        const size_t group = has_classes ? mixture.classes[k] : of_stream.size() - 1;
        if (group >= of_stream.size()) of_stream.resize(group + 1);
        of_stream[group].push_back({i, k});
      }
    }
    for (Group &group : of_stream) {
      if (!group.empty()) groups.push_back(std::move(group));
    }
  }
  return groups;
}

const double *covariance_of(const MixtureModel &model, const Member &member) {
  const Mixture &mixture = model.mixtures[member.mixture];
  return mixture.covariances.data() + member.k * model.covariance_size(mixture);
}

// A group has covariances in common over 1, or over the deviations of two dimensions: correlations. Dimensions without variance
// have none.
double scale_of(const MixtureModel &model, const double *covariance, size_t r, size_t c) {
  if (!model.shares_correlations) return 1;
  const double product = covariance[diagonal_at(r)] * covariance[diagonal_at(c)];
  return product > 0 ? std::sqrt(product) : 1;
}

// What a Gaussian adds to the mean of its group: its covariance, or its correlations.
std::vector<double> shared_part(const MixtureModel &model, const Member &member) {
  const Mixture &mixture = model.mixtures[member.mixture];
  const double *const covariance = covariance_of(model, member);
  std::vector<double> part(model.covariance_size(mixture));
  for (size_t r = 0, at = 0; r < model.n_values(mixture); ++r) {
    for (size_t c = 0; c <= r; ++c, ++at) part[at] = covariance[at] / scale_of(model, covariance, r, c);
  }
  return part;
}

// The mean of a group's covariances or correlations, and the sum of their weights.
std::vector<double> mean_of_group(const MixtureModel &model, const Group &group, const WeightOf &weight_of, double *sum) {
  std::vector<double> mean(model.covariance_size(model.mixtures[group.front().mixture]));
  *sum = 0;
  for (const Member &member : group) {
    const double weight = weight_of(model.mixtures[member.mixture], member.k);
    if (!(weight > 0)) continue;
    *sum += weight;
    const std::vector<double> part = shared_part(model, member);
    for (size_t at = 0; at < mean.size(); ++at) mean[at] += weight * part[at];
  }
  for (double &value : mean) value /= *sum;
  return mean;
}

// Gives the mean to the group's Gaussians; of correlations, with their own variances. floor: nullptr, or that of T4.
void set_group(const Group &group, const std::vector<double> &mean, const std::vector<double> *floor, MixtureModel *model) {
  for (const auto &[i, k] : group) {
    Mixture &mixture = model->mixtures[i];
    const size_t d = model->n_values(mixture), size = mean.size();
    double *const own = mixture.covariances.data() + k * size;
    std::vector<double> covariance = mean;
    for (size_t r = 0, at = 0; model->shares_correlations && r < d; ++r) {
      for (size_t c = 0; c <= r; ++c, ++at) covariance[at] = r == c ? own[at] : mean[at] * scale_of(*model, own, r, c);
    }
    if (floor != nullptr) floor_covariance(&covariance, *floor);
    std::copy(covariance.begin(), covariance.end(), own);
  }
}

// The mean of a class, in the form that Gaussians are compared with.
struct ClassMean {
  uint32_t number = 0;  // of the class
  std::vector<double> inverse;
  double log_determinant = 0;
};

// Returns false, and the class takes no Gaussian, if the mean is singular.
bool invert(std::vector<double> mean, size_t d, ClassMean *result) {
  if (!factorise(&mean, d)) return false;
  for (size_t i = 0; i < d; ++i) result->log_determinant += 2 * std::log(mean[diagonal_at(i)]);
  result->inverse = inverse_of_factor(mean, d);
  scale_beside_diagonal(result->inverse.data(), d, 2);  // each value stands for two
  return true;
}

// -2 / n_k times what the class makes of the log-likelihood of a Gaussian's frames, but for a constant.
double distance(const ClassMean &mean, const std::vector<double> &part) {
  double sum = mean.log_determinant;
  for (size_t at = 0; at < part.size(); ++at) sum += mean.inverse[at] * part[at];
  return sum;
}

// Moves every Gaussian to the class of its stream whose mean makes its frames likeliest. finish(stream, frames, mean) changes a
// mean as it will be shared. Returns true if any has moved.
bool choose_classes(const WeightOf &weight_of, const std::function<void(uint32_t, double, std::vector<double> *)> &finish,
                    ThreadPool *pool, MixtureModel *model) {
  const std::vector<Group> groups = groups_of(*model);
  std::vector<std::vector<ClassMean>> means(model->streams.size());
  std::vector<ClassMean> made(groups.size());
  pool->run(groups.size(), [&](size_t i) {
    const Mixture &first = model->mixtures[groups[i].front().mixture];
    double frames = 0;
    std::vector<double> mean = mean_of_group(*model, groups[i], weight_of, &frames);
    if (!(frames > 0)) return;
    finish(first.stream, frames, &mean);
    made[i].number = first.classes[groups[i].front().k];
    if (!invert(std::move(mean), model->n_values(first), &made[i])) made[i].inverse.clear();
  });
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!made[i].inverse.empty()) means[model->mixtures[groups[i].front().mixture].stream].push_back(std::move(made[i]));
  }
  std::vector<char> has_moved(model->mixtures.size());
  pool->run(model->mixtures.size(), [&](size_t i) {
    Mixture &mixture = model->mixtures[i];
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      if (!(weight_of(mixture, k) > 0)) continue;
      const std::vector<double> part = shared_part(*model, {i, k});
      double least = std::numeric_limits<double>::infinity();
      uint32_t best = mixture.classes[k];
      for (const ClassMean &mean : means[mixture.stream]) {
        const double d = distance(mean, part);
        if (d < least) least = d, best = mean.number;
      }
      if (best != mixture.classes[k]) has_moved[i] = 1;
      mixture.classes[k] = best;
    }
  });
  return std::find(has_moved.begin(), has_moved.end(), 1) != has_moved.end();
}

// The first classes have equally many Gaussians, in the order of their determinants.
void begin_classes(uint32_t n_classes, const WeightOf &weight_of, ThreadPool *pool, MixtureModel *model) {
  for (uint32_t stream = 0; stream < model->streams.size(); ++stream) {
    std::vector<std::pair<double, Member>> order;
    for (size_t i = 0; i < model->mixtures.size(); ++i) {
      Mixture &mixture = model->mixtures[i];
      if (mixture.stream != stream) continue;
      mixture.classes.assign(mixture.n_gaussians(), 0);
      for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
        ClassMean own;
        invert(shared_part(*model, {i, k}), model->n_values(mixture), &own);
        order.push_back({own.log_determinant, {i, k}});
      }
    }
    std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    for (size_t at = 0; at < order.size(); ++at) {
      const auto &[i, k] = order[at].second;
      model->mixtures[i].classes[k] = static_cast<uint32_t>(at * std::min<size_t>(n_classes, order.size()) / order.size());
    }
  }
  const auto as_it_is = [](uint32_t, double, std::vector<double> *) {};
  for (int round = 0; round < kFirstRounds && choose_classes(weight_of, as_it_is, pool, model); ++round) continue;
}

}  // namespace

void begin_sharing(CovarianceSharing sharing, uint32_t n_classes, bool correlations, ThreadPool *pool, MixtureModel *model) {
  model->sharing = sharing;
  model->shares_correlations = correlations;
  if (sharing == CovarianceSharing::kNone) return;
  const WeightOf weight_of = [](const Mixture &mixture, size_t k) {
    double sum = 0;
    for (size_t at = k; at < mixture.weights.size(); at += mixture.n_gaussians()) sum += mixture.weights[at];
    return sum / static_cast<double>(mixture.n_weight_rows());
  };
  if (sharing == CovarianceSharing::kClasses) begin_classes(n_classes, weight_of, pool, model);
  for (const Group &group : groups_of(*model)) {
    double sum = 0;
    set_group(group, mean_of_group(*model, group, weight_of, &sum), nullptr, model);
  }
}

void share_covariances(const EstimateOptions &options, ThreadPool *pool, MixtureModel *model) {
  if (model->sharing == CovarianceSharing::kNone) return;
  const WeightOf weight_of = [&](const Mixture &mixture, size_t k) {
    return mixture.occupancies[k] < options.min_frames ? 0 : mixture.occupancies[k];
  };
  const auto finish = [&](uint32_t stream, double frames, std::vector<double> *mean) {
    const std::vector<double> floor = floor_of_dims(options, model->streams[stream].dims);
    smooth(options, stream, frames, floor.size(), mean);
    if (!model->shares_correlations) floor_covariance(mean, floor);
  };
  if (model->sharing == CovarianceSharing::kClasses) choose_classes(weight_of, finish, pool, model);
  const std::vector<Group> groups = groups_of(*model);
  pool->run(groups.size(), [&](size_t i) {
    double frames = 0;
    std::vector<double> mean = mean_of_group(*model, groups[i], weight_of, &frames);
    if (!(frames > 0)) return;
    const uint32_t stream = model->mixtures[groups[i].front().mixture].stream;
    finish(stream, frames, &mean);
    const std::vector<double> floor = floor_of_dims(options, model->streams[stream].dims);
    set_group(groups[i], mean, model->shares_correlations ? &floor : nullptr, model);
  });
}

}  // namespace asr::train
