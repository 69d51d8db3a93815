// SPDX-License-Identifier: Apache-2.0
// VoiceActivity separates intervals of speech from background as samples arrive (E2 of docs/equations.md). Results depend only
// on the samples, not on how they were cut into calls. SpeechGate uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/decode/band_rise.h"
#include "core/decode/tonality.h"

namespace asr {

class VoiceActivity {
 public:
  // pre_roll_s: time by which an interval of speech begins before its first frame that rises above the background.
  VoiceActivity(double sample_rate_hz, uint32_t shift_samples, double pre_roll_s);

  void add_frame(const float *samples);  // the next frame, as for BandRise
  // Declares undecided frames so far to be background: no later interval reaches back to them.
  void settle() { settled_ = n_frames_; }
  void finish() { finished_ = true; }  // no more frames: later ones count like the last

  uint64_t n_frames() const { return n_frames_; }

  // Returns the first frame at or after `frame` that is speech or may turn out to be.
  uint64_t background_until(uint64_t frame) const;
  bool is_speech(uint64_t frame) const;
  // Returns the first frame with sound for which `frame` counts as speech. It is `frame` or a later one, as an interval begins
  // before its sound.
  uint64_t sound_from(uint64_t frame) const;

  // Returns the number of background frames just before `frame`, as known when `frame` frames had been added; at most
  // n_frames().
  uint64_t n_background_before(uint64_t frame) const;

  // Returns whether the sound of frames begin..end-1 has a voice (E5).
  bool has_voice(uint64_t begin, uint64_t end) const;

  void forget_before(uint64_t frame);  // later questions are about frames from `frame` on

 private:
  struct Interval {
    uint64_t begin, onset, end;
  };

  void begin_interval();
  uint64_t begin_of(uint64_t onset, uint64_t reach) const;
  uint64_t first_unknown() const;

  BandRise rise_;
  Tonality tonality_;
  const size_t onset_span_, onset_count_, hangover_, start_, pre_roll_, doubt_reach_;  // in frames
  std::deque<bool> loud_;                                                              // the last onset_span_ frames
  bool is_active_ = false, finished_ = false;
  uint64_t n_frames_ = 0, settled_ = 0;
  uint64_t ruled_out_until_ = 0;           // end of the last loud frame ruled out by Tonality
  uint64_t loud_until_ = 0;                // end of the last loud frame in an interval
  std::deque<Interval> intervals_;         // intervals of speech; the last is open while is_active_
  std::deque<uint64_t> n_background_;      // for each frame from first_kept_ + 1 to n_frames_
  std::deque<uint64_t> voice_until_;       // evidence of a voice up to and including each frame from first_kept_ on
  uint64_t voice_ = 0, voice_before_ = 0;  // all of it, and that before first_kept_
  uint64_t first_kept_ = 0;
};

}  // namespace asr
