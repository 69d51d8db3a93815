// SPDX-License-Identifier: Apache-2.0
#include "builder/train/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "builder/train/matrix.h"

namespace asr::train {
namespace {

constexpr double kSplitDeviations = 0.2;

// Frames of each Gaussian, over all rows of weights.
std::vector<double> sums_over_rows(const std::vector<double> &occupancies, size_t n) {
  std::vector<double> sums(n);
  for (size_t i = 0; i < occupancies.size(); ++i) sums[i % n] += occupancies[i];
  return sums;
}

// Adds a row of weights; the old ones where it had too few frames. prior: nullptr, or the weights that it is drawn towards.
void add_weights(const double *frames, const double *old, const double *prior, size_t n, const EstimateOptions &options,
                 std::vector<double> *weights) {
  const double all_frames = std::accumulate(frames, frames + n, 0.0);
  if (all_frames < options.min_frames) {
    weights->insert(weights->end(), old, old + n);
    return;
  }
  std::vector<double> row;
  double sum = 0;
  const double prior_frames = prior == nullptr ? 0 : options.weight_prior;
  for (size_t k = 0; k < n; ++k) {
    const double own_frames = frames[k] + (prior == nullptr ? 0 : prior_frames * prior[k]);
    sum += row.emplace_back(std::max(own_frames / (all_frames + prior_frames), options.min_weight));
  }
  for (const double weight : row) weights->push_back(weight / sum);
}

// Gaussian k of the n of each row shares its weight with a new one at the row's end.
void halve_weights(size_t k, size_t n, std::vector<double> *weights) {
  std::vector<double> halved;
  for (size_t at = 0; at < weights->size(); at += n) {
    double *const row = &(*weights)[at];
    row[k] /= 2;
    halved.insert(halved.end(), row, row + n);
    halved.push_back(row[k]);
  }
  *weights = std::move(halved);
}

class Estimator {
 public:
  Estimator(const MixtureModel &model, const Statistics &statistics, const EstimateOptions &options)
      : statistics_(statistics),
        old_(statistics.mixture),
        options_(options),
        d_(model.n_values(old_)),
        size_(model.covariance_size(old_)),
        shares_(model.sharing != CovarianceSharing::kNone),
        floor_(floor_of_dims(options, statistics.dims)) {}

  void keep_gaussian(size_t k, double frames, Mixture *mixture) const {
    const auto mean = old_.means.begin() + static_cast<ptrdiff_t>(k * d_);
    const auto covariance = old_.covariances.begin() + static_cast<ptrdiff_t>(k * size_);
    mixture->means.insert(mixture->means.end(), mean, mean + static_cast<ptrdiff_t>(d_));
    mixture->covariances.insert(mixture->covariances.end(), covariance, covariance + static_cast<ptrdiff_t>(size_));
    mixture->occupancies.push_back(frames);
  }

  void add_gaussian(size_t k, double frames, Mixture *mixture) const {
    std::vector<double> shift(d_), covariance(size_);
    for (size_t i = 0; i < d_; ++i) {
      shift[i] = statistics_.first[k * d_ + i] / frames;
      mixture->means.push_back(old_.means[k * d_ + i] + shift[i]);
    }
    const double *const second = statistics_.second.data() + k * size_;
    if (statistics_.full) {
      for (size_t r = 0, at = 0; r < d_; ++r) {
        for (size_t c = 0; c <= r; ++c, ++at) covariance[at] = second[at] / frames - shift[r] * shift[c];
        covariance[diagonal_at(r)] = std::max(covariance[diagonal_at(r)], 0.0);  // rounding may leave less
      }
      if (!shares_) {
        smooth(options_, old_.stream, frames, d_, &covariance);
        floor_covariance(&covariance, floor_);
      }
    } else {
      for (size_t i = 0; i < d_; ++i) covariance[i] = std::max(second[i] / frames - shift[i] * shift[i], floor_[i]);
    }
    mixture->covariances.insert(mixture->covariances.end(), covariance.begin(), covariance.end());
    mixture->occupancies.push_back(frames);
  }

 private:
  const Statistics &statistics_;
  const Mixture &old_;
  const EstimateOptions &options_;
  const size_t d_, size_;
  const bool shares_;  // smoothed and floored when they are shared
  const std::vector<double> floor_;
};

}  // namespace

std::vector<double> floor_of(const std::vector<double> &variance, double share) {
  constexpr double kMinVariance = 1e-10;  // floor for constant features
  std::vector<double> floor;
  floor.reserve(variance.size());
  for (const double value : variance) floor.push_back(std::max(value * share, kMinVariance));
  return floor;
}

std::vector<double> floor_of_dims(const EstimateOptions &options, const std::vector<uint32_t> &dims) {
  std::vector<double> floor;
  floor.reserve(dims.size());
  for (const uint32_t dim : dims) floor.push_back(options.variance_floor[dim]);
  return floor;
}

void smooth(const EstimateOptions &options, uint32_t stream, double frames, size_t d, std::vector<double> *covariance) {
  const std::vector<double> zeros;
  const std::vector<double> &others = options.correlations.empty() ? zeros : options.correlations[stream];
  shrink_correlations(others, frames / (frames + options.smooth), covariance, d);
}

std::vector<std::vector<double>> mean_correlations(const MixtureModel &model) {
  std::vector<std::vector<double>> sums;
  for (const GmmStream &stream : model.streams) sums.emplace_back(stream.dims.size() * (stream.dims.size() + 1) / 2);
  std::vector<double> frames(sums.size());
  for (const Mixture &mixture : model.mixtures) {
    const size_t d = model.n_values(mixture), size = model.covariance_size(mixture);
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      const double *const covariance = mixture.covariances.data() + k * size;
      frames[mixture.stream] += mixture.occupancies[k];
      for (size_t r = 0, at = 0; r < d; ++r) {
        for (size_t c = 0; c <= r; ++c, ++at) {
          const double scale = std::sqrt(covariance[diagonal_at(r)] * covariance[diagonal_at(c)]);
          sums[mixture.stream][at] += mixture.occupancies[k] * covariance[at] / scale;
        }
      }
    }
  }
  for (size_t stream = 0; stream < sums.size(); ++stream) {
    for (double &sum : sums[stream]) sum = frames[stream] > 0 ? sum / frames[stream] : 0;
  }
  return sums;
}

Mixture estimate(const MixtureModel &model, const Statistics &statistics, const EstimateOptions &options) {
  const Mixture &old = statistics.mixture;
  const size_t n = old.n_gaussians();
  const std::vector<double> frames = sums_over_rows(statistics.occupancies, n);
  const double all_frames = std::accumulate(frames.begin(), frames.end(), 0.0);
  Mixture mixture;
  if (all_frames < options.min_frames) {
    mixture = old;
    mixture.occupancies = frames;
    return mixture;
  }
  mixture.stream = old.stream;
  mixture.classes = old.classes;
  const Estimator estimator(model, statistics, options);
  for (size_t k = 0; k < n; ++k) {
    if (frames[k] >= options.min_frames) {
      estimator.add_gaussian(k, frames[k], &mixture);
    } else {
      estimator.keep_gaussian(k, frames[k], &mixture);
    }
  }
  for (size_t at = 0; at < old.weights.size(); at += n) {
    const double *const prior = old.prior_weights.empty() ? nullptr : &old.prior_weights[at];
    add_weights(&statistics.occupancies[at], &old.weights[at], prior, n, options, &mixture.weights);
  }
  mixture.prior_weights = old.prior_weights;
  return mixture;
}

void split(const MixtureModel &model, size_t n_gaussians, double min_frames, Mixture *mixture) {
  const size_t d = model.n_values(*mixture), size = model.covariance_size(*mixture);
  while (mixture->n_gaussians() < n_gaussians) {
    const size_t n = mixture->n_gaussians();
    std::vector<double> &frames = mixture->occupancies;
    const auto k = static_cast<size_t>(std::max_element(frames.begin(), frames.end()) - frames.begin());
    if (frames[k] < 2 * min_frames) return;
    frames[k] /= 2;
    frames.push_back(frames[k]);
    if (!mixture->classes.empty()) mixture->classes.push_back(mixture->classes[k]);
    for (size_t i = 0; i < size; ++i) mixture->covariances.push_back(mixture->covariances[k * size + i]);
    for (size_t i = 0; i < d; ++i) {
      const double variance = mixture->covariances[k * size + (model.full ? diagonal_at(i) : i)];
      const double step = kSplitDeviations * std::sqrt(variance);
      mixture->means.push_back(mixture->means[k * d + i] - step);
      mixture->means[k * d + i] += step;
    }
    halve_weights(k, n, &mixture->weights);
    halve_weights(k, n, &mixture->prior_weights);
  }
}

}  // namespace asr::train
