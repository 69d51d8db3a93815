// SPDX-License-Identifier: Apache-2.0
// Cepstral mean (and variance) normalisation of a stream, before dynamic features (F9 of docs/equations.md). Used by
// FeaturePipeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/feature/front_end.h"

namespace asr {

// kBatch holds everything back until finish and subtracts the mean of the whole signal. kLive subtracts a mean that begins
// as the model's prior and is renewed from all frames so far whenever more than cmn_window_frames were counted.
class Normaliser {
 public:
  Normaliser(const FrontEnd &front_end, CmnKind kind);

  // Takes cepstra [n][n_ceps] and appends those that are complete to `out`, normalised.
  void push(const float *cepstra, size_t n, std::vector<float> *out);
  void finish(std::vector<float> *out);

 private:
  bool counts(const float *frame) const { return !skip_negative_c0_ || frame[c0_] >= 0; }
  void subtract_running_mean(float *frame);
  void subtract_batch_mean();

  CmnKind kind_;
  bool variance_, skip_negative_c0_;
  uint32_t n_ceps_, c0_;
  double prior_frames_, window_frames_;
  std::vector<double> mean_, sum_;
  double count_ = 0;
  std::vector<float> held_;
};

}  // namespace asr
