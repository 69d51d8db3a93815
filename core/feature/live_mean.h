// SPDX-License-Identifier: Apache-2.0
// LiveMean estimates, frame by frame, the mean that normalisation over the whole utterance would subtract (F9 of
// docs/equations.md). The model's prior counts as few frames, and its level follows the speech heard. Silence counts only in
// proportion to speech, so that a long pause does not become the mean. Normaliser uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/feature/front_end.h"

namespace asr {

// Sums over the frames heard so far. Levels are values of c0 (or of the energy in its place).
struct LiveMeanState {
  std::vector<double> speech_sum, silence_sum;  // [n_ceps]
  double n_speech = 0, n_silence = 0;           // frames in the sums; both fade once a sum reaches its maximum
  double n_heard = 0;                           // frames of speech, counted as far as the number matters
  double peak = 0, floor = 0;                   // levels of the loudest and the quietest frames
  bool has_level = false;                       // at least one frame was counted
};

class LiveMean {
 public:
  explicit LiveMean(const FrontEnd &front_end);

  void add(const float *frame);  // [n_ceps]
  void mean(double *mean) const;

  // Returns true if frames need not be held back for a better mean.
  bool has_settled() const { return state_.n_heard >= lookahead_frames_; }
  uint32_t lookahead_frames() const { return lookahead_frames_; }

  const LiveMeanState &state() const { return state_; }
  void set_state(const LiveMeanState &state);  // n_ceps must agree; the state counts for a few seconds at most

 private:
  bool is_speech(double level) const;
  double prior_level() const;

  const uint32_t n_ceps_, c0_, lookahead_frames_;
  const bool skip_negative_c0_;
  const double db_;          // change of c0 per dB
  const double max_frames_;  // maximum of frames in a sum
  bool has_prior_;
  std::vector<double> prior_;
  LiveMeanState state_;
};

}  // namespace asr
