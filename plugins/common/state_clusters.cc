// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/state_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "plugins/common/packing.h"

namespace asr {
namespace {

using Vector = std::vector<double>;

// The Gaussians of a state's mixture in feature stream j.
class Mixture {
 public:
  Mixture(const asr_acoustic_view &view, uint32_t state, uint32_t j)
      : view_(view), codebook_(codebook_of(view, state, j)), log_weights_(log_weights_of(view, state, j)) {}

  uint32_t size() const { return codebook_.n_gaussians; }
  const float *mean(uint32_t k) const {
    return view_.means + codebook_.first_mean + size_t{k} * view_.streams[codebook_.stream].n_dims;
  }
  const float *precision(uint32_t k) const {
    return view_.precisions + view_.precision_at[view_.covariance_of[codebook_.first_gaussian + k]];
  }
  // Returns weights that add up to 1.
  Vector weights() const {
    const float greatest = *std::max_element(log_weights_, log_weights_ + size());
    Vector weights(size(), 1.0 / size());
    if (greatest == -INFINITY) return weights;
    double sum = 0;
    for (uint32_t k = 0; k < size(); ++k) sum += weights[k] = std::exp(double{log_weights_[k]} - greatest);
    for (double &weight : weights) weight /= sum;
    return weights;
  }
  Vector mean(const Vector &weights, size_t n_dims) const {
    Vector mean(n_dims, 0);
    for (uint32_t k = 0; k < size(); ++k) {
      for (size_t d = 0; d < n_dims; ++d) mean[d] += weights[k] * this->mean(k)[d];
    }
    return mean;
  }

 private:
  const asr_acoustic_view &view_;
  const asr_gmm_codebook &codebook_;
  const float *const log_weights_;
};

// The means of states' mixtures [n][n_dims], in mean deviations of their Gaussians.
struct Points {
  size_t n_dims;
  Vector values;
  const double *operator[](size_t i) const { return values.data() + i * n_dims; }
};

Points points_of(const asr_acoustic_view &view, uint32_t j, const std::vector<uint32_t> &states) {
  const size_t n_dims = view.streams[j].n_dims;
  const auto diagonal = [&](size_t d) { return view.covariance == ASR_COVARIANCE_FULL ? d * (d + 3) / 2 : d; };
  Points points{n_dims, {}};
  Vector precision(n_dims, 0);
  for (const uint32_t state : states) {
    const Mixture mixture(view, state, j);
    const Vector weights = mixture.weights(), mean = mixture.mean(weights, n_dims);
    points.values.insert(points.values.end(), mean.begin(), mean.end());
    for (uint32_t k = 0; k < mixture.size(); ++k) {
      for (size_t d = 0; d < n_dims; ++d)
        precision[d] += weights[k] * mixture.precision(k)[diagonal(d)] / double(states.size());
    }
  }
  for (size_t i = 0; i < points.values.size(); ++i) {
    const double value = points.values[i] * std::sqrt(precision[i % n_dims]);
    points.values[i] = std::isfinite(value) ? value : 0;
  }
  return points;
}

// Returns the direction in which points vary most, by power iteration from the direction of the farthest point.
Vector principal_axis(const Points &points, const uint32_t *members, size_t n) {
  constexpr int kIterations = 12;
  const size_t n_dims = points.n_dims;
  Vector mean(n_dims, 0), axis(n_dims, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t d = 0; d < n_dims; ++d) mean[d] += points[members[i]][d] / double(n);
  }
  double farthest = 0;
  for (size_t i = 0; i < n; ++i) {
    Vector difference(n_dims);
    for (size_t d = 0; d < n_dims; ++d) difference[d] = points[members[i]][d] - mean[d];
    const double distance = std::inner_product(difference.begin(), difference.end(), difference.begin(), 0.0);
    if (distance > farthest) farthest = distance, axis = difference;
  }
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    Vector next(n_dims, 0);
    for (size_t i = 0; i < n; ++i) {
      const double *const point = points[members[i]];
      double projection = 0;
      for (size_t d = 0; d < n_dims; ++d) projection += (point[d] - mean[d]) * axis[d];
      for (size_t d = 0; d < n_dims; ++d) next[d] += projection * (point[d] - mean[d]);
    }
    const double length = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    if (!(length > 0) || !std::isfinite(length)) break;
    for (size_t d = 0; d < n_dims; ++d) axis[d] = next[d] / length;
  }
  return axis;
}

// Orders members so that each kClusterStates of them are similar: cuts them in two across their principal axis, and so on.
void order_by_similarity(const Points &points, uint32_t *members, size_t n) {
  if (n <= kClusterStates) return;
  const Vector axis = principal_axis(points, members, n);
  std::vector<std::pair<double, uint32_t>> projections;
  for (size_t i = 0; i < n; ++i) {
    const double projection = std::inner_product(axis.begin(), axis.end(), points[members[i]], 0.0);
    projections.emplace_back(std::isfinite(projection) ? projection : 0, members[i]);
  }
  std::sort(projections.begin(), projections.end());
  for (size_t i = 0; i < n; ++i) members[i] = projections[i].second;
  const size_t n_clusters = (n + kClusterStates - 1) / kClusterStates, n_left = n_clusters / 2 * kClusterStates;
  order_by_similarity(points, members, n_left);
  order_by_similarity(points, members + n_left, n - n_left);
}

// Returns the end of those states from `begin` on that may share clusters. Sizes rise, and the blocks of a cluster are padded
// to its largest mixture.
size_t end_of_like_size(const std::vector<uint32_t> &sizes, size_t begin) {
  size_t end = begin;
  while (end < sizes.size() && (end - begin < kClusterStates || sizes[end] <= sizes[begin] + sizes[begin] / 4)) ++end;
  return sizes.size() - end < kClusterStates ? sizes.size() : end;
}

// Returns the lower triangle of the inverse of a positive definite matrix of which `lower` is the lower triangle, by rows.
Vector inverse(const Vector &lower, size_t n) {
  const auto at = [](size_t row, size_t column) { return row * (row + 1) / 2 + column; };
  Vector factor(lower), inverse_factor(lower.size(), 0), result(lower.size(), 0);  // of L L' and of L^-1
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k <= i; ++k) {
      double rest = lower[at(i, k)];
      for (size_t m = 0; m < k; ++m) rest -= factor[at(i, m)] * factor[at(k, m)];
      factor[at(i, k)] = k == i ? std::sqrt(rest) : rest / factor[at(k, k)];
    }
  }
  for (size_t column = 0; column < n; ++column) {
    for (size_t i = column; i < n; ++i) {
      double rest = i == column ? 1 : 0;
      for (size_t m = column; m < i; ++m) rest -= factor[at(i, m)] * inverse_factor[at(m, column)];
      inverse_factor[at(i, column)] = rest / factor[at(i, i)];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k <= i; ++k) {
      for (size_t m = i; m < n; ++m) result[at(i, k)] += inverse_factor[at(m, i)] * inverse_factor[at(m, k)];
    }
  }
  return result;
}

// Returns the precision of a mixture as a whole: diagonal, or the lower triangle by rows.
Vector precision_of(const Mixture &mixture, const Vector &weights, const Vector &mean, bool full) {
  const size_t n_dims = mean.size();
  Vector covariance(full ? n_dims * (n_dims + 1) / 2 : n_dims, 0);
  for (uint32_t k = 0; k < mixture.size(); ++k) {
    const float *const precision = mixture.precision(k), *const of_gaussian = mixture.mean(k);
    if (full) {
      const Vector within = inverse(Vector(precision, precision + covariance.size()), n_dims);
      for (size_t i = 0, at = 0; i < n_dims; ++i) {
        for (size_t m = 0; m <= i; ++m, ++at) {
          covariance[at] += weights[k] * (within[at] + (of_gaussian[i] - mean[i]) * (of_gaussian[m] - mean[m]));
        }
      }
    } else {
      for (size_t d = 0; d < n_dims; ++d) {
        const double difference = of_gaussian[d] - mean[d];
        covariance[d] += weights[k] * (1.0 / precision[d] + difference * difference);
      }
    }
  }
  if (full) return inverse(covariance, n_dims);
  for (double &value : covariance) value = std::max(1 / value, double{std::numeric_limits<float>::min()});
  return covariance;
}

}  // namespace

std::vector<std::vector<uint32_t>> cluster_states(const asr_acoustic_view &view, uint32_t j,
                                                  const std::vector<uint32_t> &states) {
  const Points points = points_of(view, j, states);
  const auto size_of = [&](uint32_t i) { return codebook_of(view, states[i], j).n_gaussians; };
  std::vector<uint32_t> order(states.size()), sizes;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return size_of(a) < size_of(b); });
  for (const uint32_t i : order) sizes.push_back(size_of(i));
  std::vector<std::vector<uint32_t>> clusters;
  for (size_t begin = 0; begin < order.size();) {
    const size_t end = end_of_like_size(sizes, begin);
    order_by_similarity(points, order.data() + begin, end - begin);
    for (; begin < end; begin += std::min(kClusterStates, end - begin)) {
      std::vector<uint32_t> &cluster = clusters.emplace_back();
      for (size_t i = begin; i < std::min(begin + kClusterStates, end); ++i) cluster.push_back(states[order[i]]);
      std::sort(cluster.begin(), cluster.end());
    }
  }
  return clusters;
}

MixtureMoments::MixtureMoments(const asr_acoustic_view &view, uint32_t j, const std::vector<uint32_t> &states)
    : view_(view), codebook_{j, uint32_t(states.size()), 0, 0} {
  for (const uint32_t state : states) {
    const Mixture mixture(view, state, j);
    const Vector weights = mixture.weights(), mean = mixture.mean(weights, view.streams[j].n_dims);
    const Vector precision = precision_of(mixture, weights, mean, view.covariance == ASR_COVARIANCE_FULL);
    covariance_of_.push_back(uint32_t(covariance_of_.size()));
    precision_at_.push_back(precisions_.size());
    means_.insert(means_.end(), mean.begin(), mean.end());
    precisions_.insert(precisions_.end(), precision.begin(), precision.end());
  }
  view_.n_states = 0, view_.state_codebook = nullptr, view_.state_weight = nullptr, view_.log_weights = nullptr;
  view_.n_codebooks = 1, view_.codebooks = &codebook_;
  view_.n_gaussians = states.size(), view_.n_covariances = uint32_t(states.size());
  view_.means = means_.data(), view_.precisions = precisions_.data();
  view_.covariance_of = covariance_of_.data(), view_.precision_at = precision_at_.data();
}

}  // namespace asr
