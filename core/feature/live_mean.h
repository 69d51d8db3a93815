// SPDX-License-Identifier: Apache-2.0
// Estimates, while frames come, the mean that normalisation over the whole utterance would subtract (F9 of docs/equations.md).
// The model's prior is worth few frames, and its level follows that of the speech heard. Silence counts as far as there is
// speech to go with it, so that a pause of any length does not become the mean. Used by Normaliser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/feature/front_end.h"

namespace asr {

// Sums over the frames heard so far. Levels are values of c0 (or of the energy in its place).
struct LiveMeanState {
  std::vector<double> speech_sum, silence_sum;  // [n_ceps]
  double n_speech = 0, n_silence = 0;           // frames in them; both fade once a sum holds its most
  double n_heard = 0;                           // frames of speech, counted up to where their number matters
  double peak = 0, floor = 0;                   // level of the loudest and of the quietest frames
  bool has_level = false;                       // a frame was counted
};

class LiveMean {
 public:
  explicit LiveMean(const FrontEnd &front_end);

  void add(const float *frame);  // [n_ceps]
  void mean(double *mean) const;

  // Whether the mean is good enough for frames not to wait for a better one.
  bool has_settled() const { return state_.n_heard >= lookahead_frames_; }
  uint32_t lookahead_frames() const { return lookahead_frames_; }

  const LiveMeanState &state() const { return state_; }
  void set_state(const LiveMeanState &state);  // of the same n_ceps; counts for a few seconds at most

 private:
  bool is_speech(double level) const;
  double prior_level() const;

  const uint32_t n_ceps_, c0_, lookahead_frames_;
  const bool skip_negative_c0_;
  const double db_;           // how far 1 dB more moves c0
  const double most_frames_;  // in a sum
  bool has_prior_;
  std::vector<double> prior_;
  LiveMeanState state_;
};

// A state as bytes: version, length, the front end it is of, checksum. The bytes have the order of the machine.
std::string state_to_bytes(const LiveMeanState &state, const FrontEnd &front_end);
// Throws ASR_INVALID_ARGUMENT in the name of `who` if the bytes are no such state, damaged, or of other cepstra.
LiveMeanState state_from_bytes(const void *bytes, size_t size, const FrontEnd &front_end, const char *who);

}  // namespace asr
