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
#include "core/feature/live_mean.h"

namespace asr {

// kBatch holds all frames until finish and subtracts the mean of the whole signal, or normalises the energy to its highest, or
// both. Its frames are then taken in blocks, so that an hour is not copied at once. kLive subtracts LiveMean's estimate of the
// mean. Until cmn_lookahead_frames of speech were heard, a frame is held until that many more frames have come; after that no
// frame is held. With cmn_lookahead_frames = 0 kLive is a running mean. It begins as the model's prior and is renewed from all
// frames so far whenever more than cmn_window_frames were counted.
class Normaliser {
 public:
  // `start`: initial state of live normalisation, or nullptr. Throws asr::Error if the model lacks the data for this kind.
  Normaliser(const FrontEnd &front_end, CmnKind kind, const LiveMeanState *start = nullptr);

  // Takes cepstra [n][n_ceps] and appends the finished ones, normalised, to `out`.
  void push(const float *cepstra, size_t n, std::vector<float> *out);
  void release_waiting(std::vector<float> *out);  // live normalisation only: uses the current mean
  void finish(std::vector<float> *out);           // kBatch appends nothing
  // After finish(): appends the next block of frames of kBatch, and frees it. Returns false if there are none.
  bool take(std::vector<float> *out);
  bool has_blocks() const { return !blocks_.empty(); }

  // Returns the state of live normalisation after the frames pushed so far; nullptr for other kinds and running means.
  const LiveMeanState *live_state() const { return live_ ? &live_->state() : nullptr; }

 private:
  bool counts(const float *frame) const { return !skip_negative_c0_ || frame[c0_] >= 0; }
  void push_live(const float *frame, std::vector<float> *out);
  void release(size_t n, std::vector<float> *out);
  void subtract_running_mean(float *frame);
  void hold(const float *cepstra, size_t n);
  template <typename Action>
  void for_each_held(const Action &action);
  void subtract_batch_mean();
  void normalise_energy();

  CmnKind kind_;
  bool variance_, skip_negative_c0_, cepstra_;
  double energy_range_, energy_scale_;  // the range in nepers; 0: the energy is a cepstrum
  uint32_t n_ceps_, c0_;
  double prior_frames_, window_frames_;
  std::vector<double> mean_, sum_;
  double count_ = 0;
  std::vector<float> held_;                // frames of kLive held until their mean is known
  std::deque<std::vector<float>> blocks_;  // frames of kBatch, kBlockFrames each but for the last
  std::optional<LiveMean> live_;
};

}  // namespace asr
