// SPDX-License-Identifier: Apache-2.0
// Tells intervals of speech from background, as samples come (E2 of docs/equations.md). What it says of a frame depends on the
// samples alone, not on how they were cut into calls. Used by SpeechGate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/decode/band_rise.h"
#include "core/decode/tonality.h"

namespace asr {

class VoiceActivity {
 public:
  // pre_roll_s: an interval of speech begins so long before the first frame that rises above the background.
  VoiceActivity(double sample_rate_hz, uint32_t shift_samples, double pre_roll_s);

  void add_frame(const float *samples);  // the next, as BandRise takes them
  // Frames so far that may yet turn out to be speech are background: no later interval reaches back to them.
  void settle() { settled_ = n_frames_; }
  void finish() { finished_ = true; }  // no more frames: those that follow are as the last one

  uint64_t n_frames() const { return n_frames_; }

  // The first frame from `frame` on that is speech, or may turn out to be.
  uint64_t background_until(uint64_t frame) const;
  bool is_speech(uint64_t frame) const;
  // The first frame of the sound for which `frame` is speech: `frame` or a later one, as an interval begins before its sound.
  uint64_t sound_from(uint64_t frame) const;

  // Frames of background just before `frame`, as was known when that many frames were added; at most n_frames() of them.
  uint64_t n_background_before(uint64_t frame) const;

  void forget_before(uint64_t frame);  // no question is about an earlier frame from now on

 private:
  struct Interval {
    uint64_t begin, onset, end;
  };

  void begin_interval();
  uint64_t begin_of(uint64_t onset, uint64_t reach) const;
  uint64_t first_unknown() const;

  BandRise rise_;
  Tonality tonality_;
  const size_t onset_span_, onset_count_, hangover_, start_, pre_roll_, doubt_reach_;  // frames
  std::deque<bool> loud_;                                                              // the last onset_span_ frames
  bool is_active_ = false, finished_ = false;
  uint64_t n_frames_ = 0, settled_ = 0;
  uint64_t ruled_out_until_ = 0;       // the end of the last loud frame that Tonality has ruled out
  uint64_t loud_until_ = 0;            // the end of the last loud frame of an interval
  std::deque<Interval> intervals_;     // of speech; the last has no end while is_active_
  std::deque<uint64_t> n_background_;  // before each frame from first_kept_ + 1 to n_frames_
  uint64_t first_kept_ = 0;
};

}  // namespace asr
