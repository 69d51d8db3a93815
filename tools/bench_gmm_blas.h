// SPDX-License-Identifier: Apache-2.0
// BlasScorer is the baseline of `bench gmm` and `bench fullgmm`. It computes the same scores by OpenBLAS's sgemm over the
// expanded features and a vectorised log-sum-exp, on one thread. OpenBLAS is loaded at run time if it is installed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/acoustic_model.h"

namespace asr::tool {

class BlasScorer {
 public:
  // The model has one stream, and all states have the same number of Gaussians of their own.
  explicit BlasScorer(const asr_acoustic_view &view);
  const std::string &missing() const { return missing_; }  // reason why it is unusable; empty if usable
  const std::string &kernels() const { return kernels_; }  // OpenBLAS's name of the kernels in use
  void score(const float *features, uint32_t n_rows, float *loglikes);

 private:
  void load();
  void pack(const asr_acoustic_view &view);
  void expand(const float *features, uint32_t n_rows);

  std::string missing_, kernels_;
  void *sgemm_ = nullptr;
  bool full_ = false;
  uint32_t n_dims_ = 0, n_states_ = 0, n_gaussians_ = 0;  // n_gaussians_: per state
  uint32_t n_columns_ = 0;                                // columns of the expansion: monomials up to the second degree
  std::vector<float> centre_;
  std::vector<float> weights_;  // [blocks][n_gaussians][states of the block][n_columns], base-2 scores
  std::vector<float> expanded_, scores_;
};

}  // namespace asr::tool
