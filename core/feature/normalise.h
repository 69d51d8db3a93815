// SPDX-License-Identifier: Apache-2.0
// Normaliser subtracts the cepstral mean (and divides by the deviation) of a stream, before dynamic features (F9 of
// docs/equations.md). FeaturePipeline uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/feature/front_end.h"
#include "core/feature/mean_state.h"

namespace asr {

// kBatch normalises by WholeMean. It holds all frames until finish; they are then taken in blocks, so that an hour is not
// copied at once. If the mean was measured before, it holds none. kMeasure only measures it. kLive subtracts LiveMean's
// estimate of the mean. Until cmn_lookahead_frames of speech were heard, a frame is held until that many more frames have come;
// after that no frame is held. With cmn_lookahead_frames = 0 kLive is a running mean. It begins as the model's prior and is
// renewed from all frames so far whenever more than cmn_window_frames were counted.
class Normaliser {
 public:
  // `start`: the initial state of this kind, or nullptr. Throws asr::Error if the model lacks the data for this kind.
  Normaliser(const FrontEnd &front_end, CmnKind kind, const MeanState *start = nullptr);

  // Takes cepstra [n][n_ceps] and appends the finished ones, normalised, to `out`.
  void push(const float *cepstra, size_t n, std::vector<float> *out);
  void release_waiting(std::vector<float> *out);  // live normalisation only: uses the current mean
  void finish(std::vector<float> *out);           // appends nothing of held frames of kBatch
  // After finish(): appends the next block of held frames of kBatch, and frees it. Returns false if there are none.
  bool take(std::vector<float> *out);
  bool has_blocks() const { return !blocks_.empty(); }

  // Copies the state to *state: that of live normalisation after the frames pushed so far; that of kMeasure, which changes with
  // finish(). Returns false for other kinds and running means.
  bool get_state(MeanState *state) const;

 private:
  bool counts(const float *frame) const { return !skip_negative_c0_ || frame[c0_] >= 0; }
  void push_live(const float *frame, std::vector<float> *out);
  void release(size_t n, std::vector<float> *out);
  void subtract_running_mean(float *frame);
  void hold(const float *cepstra, size_t n);
  template <typename Action>
  void for_each_held(const Action &action);

  CmnKind kind_;
  bool skip_negative_c0_;
  uint32_t n_ceps_, c0_;
  double prior_frames_, window_frames_;
  std::vector<double> mean_, sum_;
  double count_ = 0;
  std::vector<float> held_;                // frames of kLive held until their mean is known
  std::deque<std::vector<float>> blocks_;  // frames of kBatch, kBlockFrames each but for the last
  std::optional<LiveMean> live_;
  std::optional<WholeMean> whole_;  // of kBatch and kMeasure
};

}  // namespace asr
