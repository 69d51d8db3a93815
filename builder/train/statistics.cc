// SPDX-License-Identifier: Apache-2.0
#include "builder/train/statistics.h"

#include "builder/train/matrix.h"
#include "plugins/common/posteriors-inl.h"

namespace asr::train {
namespace {

void add_all(const std::vector<double> &from, std::vector<double> *to) {
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
}

}  // namespace

Statistics::Statistics(const MixtureModel &model, const Mixture &of, bool of_pairs)
    : mixture(of),
      dims(model.streams[of.stream].dims),
      full(of_pairs),
      occupancies(of.weights.size()),
      first(of.means.size()),
      second(of.n_gaussians() * (full ? dims.size() * (dims.size() + 1) / 2 : dims.size())),
      difference_(dims.size()) {}

void Statistics::add(const float *row, size_t weight_row, const std::vector<double> &shares, double log_likelihood_of_row) {
  const size_t d = dims.size(), n = shares.size(), size = second.size() / n;
  log_likelihood += log_likelihood_of_row;
  for (size_t k = 0; k < n; ++k) {
    const double share = shares[k];
    if (share < kMinPosterior) continue;
    occupancies[weight_row * n + k] += share;
    const double *const mean = mixture.means.data() + k * d;
    double *const difference = difference_.data();
    for (size_t i = 0; i < d; ++i) difference[i] = static_cast<double>(row[dims[i]]) - mean[i];
    double *const sums = first.data() + k * d;
    for (size_t i = 0; i < d; ++i) sums[i] += share * difference[i];
    double *squares = second.data() + k * size;
    if (!full) {
      for (size_t i = 0; i < d; ++i) squares[i] += share * difference[i] * difference[i];
      continue;
    }
    for (size_t r = 0; r < d; ++r) {
      const double scaled = share * difference[r];
      for (size_t c = 0; c <= r; ++c) squares[c] += scaled * difference[c];
      squares += r + 1;
    }
  }
}

void Statistics::add(const Statistics &other) {
  add_all(other.occupancies, &occupancies);
  add_all(other.first, &first);
  add_all(other.second, &second);
  log_likelihood += other.log_likelihood;
}

}  // namespace asr::train
