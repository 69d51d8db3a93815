// SPDX-License-Identifier: Apache-2.0
#include "builder/train/new/moments.h"

#include <algorithm>
#include <cmath>

namespace asr::train {

void RowMoments::add(const float *row, size_t n_dims) {
  sum.resize(n_dims);
  square.resize(n_dims);
  frames += 1;
  for (size_t i = 0; i < n_dims; ++i) {
    const auto x = static_cast<double>(row[i]);
    sum[i] += x;
    square[i] += x * x;
  }
}

void RowMoments::add(const RowMoments &other) {
  if (other.frames == 0) return;
  sum.resize(other.sum.size());
  square.resize(other.square.size());
  frames += other.frames;
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] += other.sum[i];
    square[i] += other.square[i];
  }
}

double RowMoments::cost(const std::vector<double> &floor) const {
  double total = 0;
  for (size_t i = 0; i < sum.size(); ++i) {
    const double mean = sum[i] / frames, variance = square[i] / frames - mean * mean;
    const double floored = std::max(variance, floor[i]);
    total += std::log(floored) + variance / floored;
  }
  return frames * total / 2;
}

double cost_of_merging(const RowMoments &a, const RowMoments &b, const std::vector<double> &floor) {
  RowMoments both = a;
  both.add(b);
  return both.cost(floor) - a.cost(floor) - b.cost(floor);
}

}  // namespace asr::train
