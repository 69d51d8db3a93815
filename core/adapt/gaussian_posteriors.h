// SPDX-License-Identifier: Apache-2.0
// GaussianPosteriors computes, in double, each Gaussian's share of a feature row. Estimation accumulates these shares.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/acoustic_model.h"

namespace asr {

constexpr uint32_t kNoState = UINT32_MAX;  // the state of a row that estimation leaves out, such as of silence
constexpr double kMinShare = 1e-10;        // smallest share of a Gaussian in a row that statistics count

class GaussianPosteriors {
 public:
  explicit GaussianPosteriors(const AcousticModel &model) : GaussianPosteriors(model, model.means) {}
  // Takes other means than the model's own. Model and means must outlive this.
  GaussianPosteriors(const AcousticModel &model, const std::vector<float> &means);

  const AcousticModel &model() const { return model_; }

  // Writes the shares of the Gaussians in the state's codebook of feature stream `stream` to *shares; they add up to 1. Returns
  // the log-likelihood of this stream's part of the row.
  double of(const float *row, uint32_t state, uint32_t stream, std::vector<double> *shares) const;

  const asr_gmm_codebook &codebook(uint32_t state, uint32_t stream) const {
    return model_.codebooks[model_.state_codebook[size_t{state} * model_.streams.size() + stream]];
  }
  const float *log_weights(uint32_t state, uint32_t stream) const {  // log weights of the codebook's Gaussians
    return model_.log_weights.data() + model_.state_weight[size_t{state} * model_.streams.size() + stream];
  }
  const float *mean(const asr_gmm_codebook &codebook, uint32_t gaussian) const;
  // [d], or a lower triangle by rows if covariances are full.
  const float *precision(const asr_gmm_codebook &codebook, uint32_t gaussian) const;
  bool is_full() const { return model_.covariance == ASR_COVARIANCE_FULL; }

 private:
  const AcousticModel &model_;
  const std::vector<float> &means_;
  std::vector<double> log_norms_;  // [n_covariances]: log density of the Gaussian at its mean
};

}  // namespace asr
