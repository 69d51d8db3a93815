// SPDX-License-Identifier: Apache-2.0
// The density of a mixture at a row of features, and the share of each Gaussian in it (equations T1, G1 and G2), in
// double.
#pragma once

#include <vector>

#include "builder/train/mixture_model.h"
#include "core/backend/asr_backend_statistics.h"

namespace asr::train {

class Densities {
 public:
  Densities(const MixtureModel &model, const Mixture &mixture);  // both must outlive this

  // Returns the log-likelihood of the row under a row of weights. Sets *shares to the Gaussians' shares, which add up
  // to 1.
  double shares(const float *row, size_t weight_row, std::vector<double> *shares);

  // Returns the parameters with which a device sums; valid as long as this.
  asr_mixture_view view() const;

 private:
  double distance(const float *row, size_t gaussian);

  const Mixture &mixture_;
  const std::vector<uint32_t> &dims_;
  const bool full_;
  const size_t covariance_size_;
  // Diagonal: precisions [n_gaussians][d]. Full: inverses of the covariances' factors, each by columns.
  std::vector<double> precisions_;
  std::vector<double> log_norms_;    // [n_gaussians]: the logarithm of the Gaussian at its mean
  std::vector<double> log_weights_;  // as the mixture's weights
  std::vector<double> difference_, turned_;
};

}  // namespace asr::train
