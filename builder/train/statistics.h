// SPDX-License-Identifier: Apache-2.0
// Sums over the rows that belong to a mixture. The next Gaussians are estimated from them (equation T2).
#pragma once

#include <vector>

#include "builder/train/mixture_model.h"

namespace asr::train {

// Moments are those about the Gaussians' present means, so that nothing large cancels.
struct Statistics {
  // full: second moments are those of all pairs of dimensions, also where the model's covariances are diagonal.
  Statistics(const MixtureModel &model, const Mixture &mixture, bool full);

  // A row of features, with the shares of the Gaussians in it and its log-likelihood.
  void add(const float *row, size_t weight_row, const std::vector<double> &shares, double log_likelihood);
  void add(const Statistics &other);  // adds statistics of the same mixture

  const Mixture &mixture;
  const std::vector<uint32_t> &dims;
  bool full;
  std::vector<double> occupancies;  // [n_weight_rows][n_gaussians]
  std::vector<double> first;        // [n_gaussians][d]
  std::vector<double> second;       // [n_gaussians][d], or lower triangles by rows
  double log_likelihood = 0;

 private:
  std::vector<double> difference_;
};

}  // namespace asr::train
