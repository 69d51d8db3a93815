// SPDX-License-Identifier: Apache-2.0
// Holds samples of a stream back until it is known whether they are speech, so that what is background need not be decoded.
// Between what Stream takes from its intake and its RowSource; used by the engine's thread only. Frames count from the stream's
// first sample, and begin one frame shift apart.
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
  void settle() { activity_.settle(); }  // what is not known to be speech is background
  void finish();                         // no more samples
  void begin_again(uint64_t frame);      // the next samples are those from this frame on, once more

  // Samples to be released now: all while it is open, for an utterance, else those of background and of what follows it.
  void open() { is_open_ = true; }
  void close(uint64_t next_frame) { is_open_ = false, next_frame_ = next_frame; }
  size_t n_releasable() const;
  const float *samples() const { return held_.data(); }
  void release(size_t n);
  bool is_empty() const { return held_.empty(); }

  // Rows of background from next_frame on, and whether speech begins there.
  uint64_t n_background_from(uint64_t next_frame) const { return activity_.background_until(next_frame) - next_frame; }
  bool speech_begins_at(uint64_t next_frame) const { return activity_.is_speech(next_frame); }
  uint64_t sound_from(uint64_t frame) const { return activity_.sound_from(frame); }
  uint64_t n_background_before(uint64_t frame) const { return activity_.n_background_before(frame); }
  void forget_before(uint64_t frame) { activity_.forget_before(frame); }

 private:
  const uint32_t shift_;
  const size_t window_;  // samples
  VoiceActivity activity_;
  std::vector<float> held_;
  uint64_t position_ = 0;  // of held_[0] in the stream
  uint64_t next_frame_ = 0;
  bool is_open_ = false, finished_ = false;
};

}  // namespace asr
