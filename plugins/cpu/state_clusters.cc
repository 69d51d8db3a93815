// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/state_clusters.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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
  return end;
}

// A triangle U of n rows, row i of which has the columns i ... n - 1; or the diagonal of one, of which the rest is zero.
struct Triangle {
  size_t n;
  bool full;
  Vector values = Vector(full ? n * (n + 1) / 2 : n, 0);

  double &at(size_t row, size_t column) { return values[full ? row * n - row * (row + 1) / 2 + column : row]; }
  double at(size_t row, size_t column) const { return values[full ? row * n - row * (row + 1) / 2 + column : row]; }
  size_t end(size_t row) const { return full ? n : row + 1; }
};

Triangle inverse(const Triangle &u) {
  Triangle inverse{u.n, u.full};
  for (size_t column = 0; column < u.n; ++column) {
    for (size_t row = column + 1; row-- > (u.full ? 0 : column);) {
      double rest = row == column ? 1 : 0;
      for (size_t k = row + 1; k <= column; ++k) rest -= u.at(row, k) * inverse.at(k, column);
      inverse.at(row, column) = rest / u.at(row, row);
    }
  }
  return inverse;
}

// Returns U with U U' = S. `s` has the upper triangle of S, which is positive definite but for rounding.
Triangle upper_factor(const Triangle &s) {
  constexpr double kMinPivot = 1e-14;
  Triangle u{s.n, s.full};
  for (size_t column = s.n; column-- > 0;) {
    for (size_t row = column + 1; row-- > (s.full ? 0 : column);) {
      double rest = s.at(row, column);
      for (size_t k = column + 1; k < u.end(column); ++k) rest -= u.at(row, k) * u.at(column, k);
      u.at(row, column) = row == column ? std::sqrt(std::max(rest, kMinPivot * s.at(row, row))) : rest / u.at(column, column);
    }
  }
  return u;
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

size_t n_chosen_clusters(double share, size_t n) {
  constexpr size_t kDigits = 1000000;
  const auto digits = static_cast<size_t>(std::llround(share * double{kDigits}));
  return std::clamp<size_t>((digits * n + kDigits - 1) / kDigits, 1, n);
}

// With S = U U', F = U^-1 is the factor of the precision: F' F = S^-1.
PackedGaussian single_gaussian(const asr_acoustic_view &view, uint32_t state, uint32_t j, const std::vector<float> &centre) {
  const asr_gmm_stream &stream = view.streams[j];
  const asr_gmm_codebook &codebook = codebook_of(view, state, j);
  const size_t n_dims = stream.n_dims;
  const bool full = view.covariance == ASR_COVARIANCE_FULL;
  const Mixture mixture(view, state, j);
  const Vector weights = mixture.weights(), mean = mixture.mean(weights, n_dims);
  Triangle covariance{n_dims, full};
  for (uint32_t k = 0; k < mixture.size(); ++k) {
    Triangle factor{n_dims, full};
    factor.values = pack_gaussian(view, codebook, k, centre).factor;
    const Triangle within = inverse(factor);  // of the Gaussian: its covariance is within within'
    Vector difference(n_dims);
    for (size_t d = 0; d < n_dims; ++d) difference[d] = mixture.mean(k)[d] - mean[d];
    for (size_t row = 0; row < n_dims; ++row) {
      for (size_t column = row; column < covariance.end(row); ++column) {
        double value = difference[row] * difference[column];
        for (size_t i = column; i < within.end(column); ++i) value += within.at(row, i) * within.at(column, i);
        covariance.at(row, column) += weights[k] * value;
      }
    }
  }
  const Triangle factor = inverse(upper_factor(covariance));
  PackedGaussian single{factor.values, Vector(n_dims, 0), 0};
  for (size_t row = 0; row < n_dims; ++row) {
    single.log_normaliser += std::log(factor.at(row, row)) - kLn2Pi / 2;
    for (size_t column = row; column < factor.end(row); ++column) {
      single.offset[row] += factor.at(row, column) * (mean[column] - centre[stream.dims[column]]);
    }
  }
  return single;
}

}  // namespace asr
