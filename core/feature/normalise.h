// SPDX-License-Identifier: Apache-2.0
// Cepstral mean (and variance) normalisation of a stream, before dynamic features (F9 of docs/equations.md). Used by
// FeaturePipeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/feature/front_end.h"
#include "core/feature/live_mean.h"

namespace asr {

// kBatch holds everything back until finish and subtracts the mean of the whole signal. kLive subtracts LiveMean's estimate of
// it; until cmn_lookahead_frames of speech were heard, a frame waits for so many more, and then none waits any more. Where that
// is 0 it is a running mean: it begins as the model's prior and is renewed from all frames so far whenever more than
// cmn_window_frames were counted.
class Normaliser {
 public:
  // `start`: what live normalisation knows already, nullptr if nothing. Throws asr::Error if the model has none of this kind.
  Normaliser(const FrontEnd &front_end, CmnKind kind, const LiveMeanState *start = nullptr);

  // Takes cepstra [n][n_ceps] and appends those that are complete to `out`, normalised.
  void push(const float *cepstra, size_t n, std::vector<float> *out);
  void release_waiting(std::vector<float> *out);  // of live normalisation, with the mean as it is
  void finish(std::vector<float> *out);

  // The state of live normalisation after the frames pushed so far; nullptr for other kinds and running means.
  const LiveMeanState *live_state() const { return live_ ? &live_->state() : nullptr; }

 private:
  bool counts(const float *frame) const { return !skip_negative_c0_ || frame[c0_] >= 0; }
  void push_live(const float *frame, std::vector<float> *out);
  void release(size_t n, std::vector<float> *out);
  void subtract_running_mean(float *frame);
  void subtract_batch_mean();

  CmnKind kind_;
  bool variance_, skip_negative_c0_;
  uint32_t n_ceps_, c0_;
  double prior_frames_, window_frames_;
  std::vector<double> mean_, sum_;
  double count_ = 0;
  std::vector<float> held_;  // frames that wait for their mean
  std::optional<LiveMean> live_;
};

}  // namespace asr
