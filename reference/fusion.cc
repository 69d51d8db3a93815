// SPDX-License-Identifier: Apache-2.0
#include "reference/fusion.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asr::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double best(const FusionProblem &p, size_t m, size_t t) {
  const auto row = p.loglikes[m].begin() + static_cast<ptrdiff_t>(t * p.n_states);
  return *std::max_element(row, row + static_cast<ptrdiff_t>(p.n_states));
}

bool is_speech(const FusionProblem &p, size_t t) {
  double most = -kInfinity;
  bool result = true;
  for (const std::vector<double> &loglikes : p.loglikes) {
    for (size_t s = 0; s < p.n_states; ++s) {
      const double value = loglikes[t * p.n_states + s];
      if (!(value > most)) continue;
      most = value;
      result = !p.is_silent[s];
    }
  }
  return result;
}

std::vector<size_t> speech_until(const FusionProblem &p, size_t t) {
  std::vector<size_t> frames;
  for (size_t i = 0; i <= t; ++i) {
    if (is_speech(p, i)) frames.push_back(i);
  }
  return frames;
}

std::vector<double> followed_weights(const FusionProblem &p, size_t t) {
  const std::vector<size_t> frames = speech_until(p, t);
  std::vector<double> weights = p.weights;
  if (frames.empty()) return weights;
  std::vector<double> means(weights.size());
  for (size_t m = 0; m < weights.size(); ++m) {
    double sum = 0, n = 0;
    for (size_t i = 0; i < frames.size(); ++i) {
      const double share = std::exp(-static_cast<double>(frames.size() - 1 - i) / p.follow_frames);
      sum += share * best(p, m, frames[i]);
      n += share;
    }
    means[m] = sum / n;
  }
  const double most = *std::max_element(means.begin(), means.end());
  for (size_t m = 0; m < weights.size(); ++m) weights[m] *= std::exp(means[m] - most);
  return weights;
}

std::vector<double> selected_weights(const FusionProblem &p, size_t t) {
  std::vector<size_t> frames = speech_until(p, t);
  if (frames.size() < p.select_frames) return p.weights;
  frames.resize(p.select_frames);
  std::vector<double> sums(p.weights.size());
  for (size_t m = 0; m < sums.size(); ++m) {
    for (const size_t i : frames) sums[m] += best(p, m, i);
  }
  std::vector<double> weights(sums.size());
  weights[static_cast<size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin())] = 1;
  return weights;
}

double fuse_state(Fusion rule, const std::vector<double> &weights, const std::vector<double> &values) {
  double total = 0, most = 0, likeliest = -kInfinity;
  for (const double weight : weights) total += weight, most = std::max(most, weight);
  for (size_t m = 0; m < weights.size(); ++m) likeliest = std::max(likeliest, values[m]);
  double sum = 0, likelihoods = 0, largest = -kInfinity;
  for (size_t m = 0; m < weights.size(); ++m) {
    sum += weights[m] / total * values[m];
    largest = std::max(largest, values[m] + std::log(weights[m] / most));
    if (likeliest > -kInfinity) likelihoods += weights[m] / total * std::exp(values[m] - likeliest);
  }
  if (rule == Fusion::kSum) return sum;
  if (rule == Fusion::kMax) return largest;
  return likeliest > -kInfinity ? likeliest + std::log(likelihoods) : likeliest;
}

}  // namespace

std::vector<double> fuse(const FusionProblem &p) {
  std::vector<double> result;
  for (size_t t = 0; t < p.n_frames; ++t) {
    const std::vector<double> weights = p.rule == Fusion::kFollow   ? followed_weights(p, t)
                                        : p.rule == Fusion::kSelect ? selected_weights(p, t)
                                                                    : p.weights;
    for (size_t s = 0; s < p.n_states; ++s) {
      std::vector<double> values;
      for (const std::vector<double> &loglikes : p.loglikes) values.push_back(loglikes[t * p.n_states + s]);
      result.push_back(fuse_state(p.rule, weights, values));
    }
  }
  return result;
}

}  // namespace asr::reference
