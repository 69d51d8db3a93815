// SPDX-License-Identifier: Apache-2.0
#include "core/decode/endpointer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asr {
namespace {

constexpr double kSurelyEnds = 2, kMayEnd = 8;  // cost differences to end in a final state (natural log)
constexpr double kNearLongest = 0.7;            // fraction of the greatest length after which a short silence is enough
constexpr double kShortSilence_s = 0.1;
constexpr double kCutReach_s = 3;  // words are stable by then
constexpr double kForget_s = 0.6;  // duration of background in which words would have been found

}  // namespace

std::optional<EndpointTimes> preset_times(asr_endpoint preset) {
  switch (preset) {
    case ASR_ENDPOINT_COMMAND:
      return EndpointTimes{0.3, 0.8, 5, 15};
    case ASR_ENDPOINT_DICTATION:
      return EndpointTimes{0.7, 1.5, 5, 60};
    case ASR_ENDPOINT_CAPTIONS:
      return EndpointTimes{0.3, 0.5, 5, 8};
    default:
      return std::nullopt;
  }
}

void PathTail::add(const asr_path_arc *arcs, uint64_t n, const std::function<bool(uint32_t transition_id)> &is_silence) {
  for (uint64_t i = 0; i < n; ++i) {
    if (arcs[i].word != 0) has_words = true;
    if (arcs[i].transition_id == 0) continue;
    const bool silent = is_silence(arcs[i].transition_id);
    is_silent = is_silent && silent;
    if (is_silent) ++n_silent_before;
    n_silent = silent ? n_silent + 1 : 0;
  }
}

PathTail tail_of_path(const asr_path &path, const std::function<bool(uint32_t transition_id)> &is_silence, PathTail before) {
  before.add(path.arcs, path.n_arcs, is_silence);
  before.n_frames = path.n_frames;
  return before;
}

Endpointer::Endpointer(const EndpointTimes &times, double frame_shift_s, std::optional<double> early_s)
    : times_(times),
      shift_s_(frame_shift_s),
      early_s_(early_s),
      longest_frames_(std::max(1u, static_cast<uint32_t>(times.longest_s / frame_shift_s + 1e-6))),
      next_check_(std::min(kStepFrames, longest_frames_)),
      next_early_check_(early_s ? next_check_ : std::numeric_limits<uint32_t>::max()) {}

bool Endpointer::ends_at(const PathTail &tail, const std::function<double()> &cost_to_end) {
  const bool is_early_only = next_early_check_ < next_check_;
  if (early_s_) next_early_check_ = next_check() + (has_probably_ended(tail) ? kStepFrames : frames_until(*early_s_, tail, 1));
  if (is_early_only) return false;
  if (ends_by_rules(tail, cost_to_end)) return true;
  next_check_ = std::min(next_check_ + frames_until(min_silence_s(tail), tail, kStepFrames), longest_frames_);
  return false;
}

// Returns the frames until the silence can be long enough for a rule.
uint32_t Endpointer::frames_until(double silence_s, const PathTail &tail, uint32_t least) const {
  const double missing_s = silence_s - tail.n_quiet() * shift_s_;
  return static_cast<uint32_t>(std::max<double>(least, std::ceil(missing_s / shift_s_ - 1e-6)));
}

bool Endpointer::has_probably_ended(const PathTail &tail) const {
  return early_s_ && tail.has_words && tail.n_quiet() * shift_s_ + 1e-6 >= *early_s_;
}

bool Endpointer::is_near_longest(const PathTail &tail) const {
  return tail.n_frames * shift_s_ >= kNearLongest * times_.longest_s;
}

bool Endpointer::may_be_cut_after(uint32_t n_frames) const {
  return n_frames * shift_s_ >= times_.longest_s - std::max(kCutReach_s, (1 - kNearLongest) * times_.longest_s);
}

bool Endpointer::is_cut(const PathTail &tail) const {
  return next_check_ == longest_frames_ && tail.has_words && tail.n_quiet() * shift_s_ + 1e-6 < kShortSilence_s;
}

double Endpointer::min_silence_s(const PathTail &tail) const {
  if (is_near_longest(tail)) return kShortSilence_s;
  const double without_words_s = tail.n_background > 0 ? std::min(times_.without_words_s, kForget_s) : times_.without_words_s;
  return std::min(times_.at_end_s, tail.has_words ? times_.after_words_s : without_words_s);
}

bool Endpointer::ends_by_rules(const PathTail &tail, const std::function<double()> &cost_to_end) const {
  const double silence_s = tail.n_silent * shift_s_ + 1e-6, background_s = tail.n_background * shift_s_ + 1e-6;
  if (next_check_ == longest_frames_) return true;
  if (is_near_longest(tail) && silence_s >= kShortSilence_s) return true;
  if (!tail.has_words) return silence_s >= times_.without_words_s || background_s >= kForget_s;
  if (std::max(silence_s, background_s) >= times_.after_words_s) return true;
  if (silence_s < times_.at_end_s) return false;
  const double cost = cost_to_end();
  return cost <= kSurelyEnds || (cost <= kMayEnd && silence_s >= (times_.at_end_s + times_.after_words_s) / 2);
}

}  // namespace asr
