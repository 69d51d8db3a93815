// SPDX-License-Identifier: Apache-2.0
// Endpointer decides where an utterance of an endless stream ends, from the silence at the end of its best path. Its rules
// resemble those of Kaldi's online decoders. Utterance uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "asr.h"
#include "core/backend/asr_backend.h"

namespace asr {

// Durations of silence in seconds after which an utterance ends, and its greatest length.
struct EndpointTimes {
  double at_end_s;         // after words, if the graph may well end: a whole sentence
  double after_words_s;    // after any words
  double without_words_s;  // before the first word
  double longest_s;        // greatest length: near it the utterance ends at the next short silence, at it in any case
};

std::optional<EndpointTimes> preset_times(asr_endpoint preset);  // unset for ASR_ENDPOINT_OFF

struct PathTail {
  uint32_t n_frames = 0;
  uint32_t n_silent = 0, n_silent_before = 0;  // frames of silence at the end of the path, and at its beginning
  uint32_t n_background = 0;                   // frames since the voice activity detector last reported speech, if there is one
  bool has_words = false;
  bool is_silent = true;  // all frames

  void add(const asr_path_arc *arcs, uint64_t n, const std::function<bool(uint32_t transition_id)> &is_silence);
  uint32_t n_quiet() const { return n_silent > n_background ? n_silent : n_background; }
};

// Returns the tail of a path whose arcs follow those that `before` has.
PathTail tail_of_path(const asr_path &path, const std::function<bool(uint32_t transition_id)> &is_silence,
                      PathTail before = {});

class Endpointer {
 public:
  // early_s: duration of silence after words at which the utterance has probably ended.
  Endpointer(const EndpointTimes &times, double frame_shift_s, std::optional<double> early_s = std::nullopt);

  // Returns the utterance's frame for the next look at its best path. It depends only on earlier paths, not on how the audio
  // was fed.
  uint32_t next_check() const { return next_check_ < next_early_check_ ? next_check_ : next_early_check_; }

  // Returns whether the utterance ends at the frame of next_check(); if not, moves next_check() on. cost_to_end() returns how
  // much more the best path into a final state costs than the best path, infinity if there is none. It is called only if it
  // matters.
  bool ends_at(const PathTail &tail, const std::function<double()> &cost_to_end);

  // Returns whether only its length ends an utterance that ends at the frame of next_check(), in the middle of speech.
  bool is_cut(const PathTail &tail) const;
  // Returns whether a cut may be at or after this frame: it is not long before the greatest length.
  bool may_be_cut_after(uint32_t n_frames) const;

  // Returns whether the silence is long enough that the utterance has probably ended.
  bool has_probably_ended(const PathTail &tail) const;

 private:
  uint32_t frames_until(double silence_s, const PathTail &tail, uint32_t least) const;
  bool ends_by_rules(const PathTail &tail, const std::function<double()> &cost_to_end) const;
  double min_silence_s(const PathTail &tail) const;
  bool is_near_longest(const PathTail &tail) const;

  const EndpointTimes times_;
  const double shift_s_;
  const std::optional<double> early_s_;
  const uint32_t longest_frames_;
  uint32_t next_check_;        // next check of the rules; the same with and without early_s
  uint32_t next_early_check_;  // UINT32_MAX without early_s

  static constexpr uint32_t kStepFrames = 10;
};

}  // namespace asr
