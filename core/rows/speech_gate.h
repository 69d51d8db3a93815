// SPDX-License-Identifier: Apache-2.0
// SpeechGate holds samples of a stream until they are known to be speech or background, so that background need not be decoded.
// It sits between Stream's intake and its RowSource; only the engine's thread uses it. Frames count from the stream's first
// sample, and begin one frame shift apart.
#pragma once

#include <vector>

#include "core/decode/voice_activity.h"
#include "core/feature/front_end.h"

namespace asr {

class SpeechGate {
 public:
  SpeechGate(const FrontEnd &front_end, uint32_t window_frames, double pre_roll_s);

  size_t n_wanted() const;  // samples to add before the next release
  void add(const float *samples, size_t n);
  void settle() { activity_.settle(); }  // undecided frames become background
  void finish();                         // no more samples
  void begin_again(uint64_t frame);      // the next samples repeat the stream from this frame on

  // Samples to release now: while open, for an utterance, all of them; else those of background, and its following context.
  void open() { is_open_ = true; }
  void close(uint64_t next_frame) { is_open_ = false, next_frame_ = next_frame; }
  size_t n_releasable() const;
  const float *samples() const { return held_.data(); }
  void release(size_t n);
  bool is_empty() const { return held_.empty(); }

  // Number of background rows from next_frame on, and whether speech begins there.
  uint64_t n_background_from(uint64_t next_frame) const { return activity_.background_until(next_frame) - next_frame; }
  bool speech_begins_at(uint64_t next_frame) const { return activity_.is_speech(next_frame); }
  uint64_t sound_from(uint64_t frame) const { return activity_.sound_from(frame); }
  uint64_t n_background_before(uint64_t frame) const { return activity_.n_background_before(frame); }
  bool has_voice(uint64_t begin, uint64_t end) const { return activity_.has_voice(begin, end); }
  void forget_before(uint64_t frame) { activity_.forget_before(frame); }

 private:
  const uint32_t shift_;
  const size_t window_;  // in samples
  VoiceActivity activity_;
  std::vector<float> held_;
  uint64_t position_ = 0;  // position of held_[0] in the stream
  uint64_t next_frame_ = 0;
  bool is_open_ = false, finished_ = false;
};

}  // namespace asr
