// SPDX-License-Identifier: Apache-2.0
// Decides where an utterance of an endless stream ends, by the silence at the end of its best path. The rules are of the kind
// that Kaldi's online decoders have. Used by Utterance.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "asr.h"
#include "core/backend/asr_backend.h"

namespace asr {

// Seconds of silence after which an utterance ends, and how long it may be.
struct EndpointTimes {
  double at_end_s;         // after words, where the graph may well end: a whole sentence
  double after_words_s;    // after any words
  double without_words_s;  // where there are no words yet
  double longest_s;        // an utterance that nears this length ends at the next short silence, and at this length anyway
};

std::optional<EndpointTimes> preset_times(asr_endpoint preset);  // unset for ASR_ENDPOINT_OFF

struct PathTail {
  uint32_t n_frames = 0;
  uint32_t n_silent = 0, n_silent_before = 0;  // frames of the silence that the path ends with, and of that it begins with
  uint32_t n_background = 0;  // frames since the last that the voice activity detector took for speech, where there is one
  bool has_words = false;

  uint32_t n_quiet() const { return n_silent > n_background ? n_silent : n_background; }
};

PathTail tail_of_path(const asr_path &path, const std::function<bool(uint32_t transition_id)> &is_silence);

class Endpointer {
 public:
  // early_s: of silence after words, from which on the utterance has probably ended.
  Endpointer(const EndpointTimes &times, double frame_shift_s, std::optional<double> early_s = std::nullopt);

  // The frame of the utterance at which its best path should be looked at next. It depends on the paths seen before alone, so
  // that it is the same however the audio was fed.
  uint32_t next_check() const { return next_check_ < next_early_check_ ? next_check_ : next_early_check_; }

  // Whether the utterance ends at the frame of next_check(), which goes on if not. cost_to_end(): by how much the best path
  // that ends in a final state costs more than the best of all, infinity if there is none; called if it matters.
  bool ends_at(const PathTail &tail, const std::function<double()> &cost_to_end);

  // Whether the silence is so long that the utterance has probably ended.
  bool has_probably_ended(const PathTail &tail) const;

 private:
  uint32_t frames_until(double silence_s, const PathTail &tail, uint32_t least) const;
  bool ends_by_rules(const PathTail &tail, const std::function<double()> &cost_to_end) const;
  double least_silence_s(const PathTail &tail) const;
  bool is_near_longest(const PathTail &tail) const;

  const EndpointTimes times_;
  const double shift_s_;
  const std::optional<double> early_s_;
  const uint32_t longest_frames_;
  uint32_t next_check_;        // of the rules; the same with and without early_s
  uint32_t next_early_check_;  // the greatest number without early_s

  static constexpr uint32_t kStepFrames = 10;
};

}  // namespace asr
