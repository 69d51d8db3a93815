// SPDX-License-Identifier: Apache-2.0
#include "core/decode/voice_activity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asr {
namespace {

constexpr double kLoud_db = 7;                          // rise of a frame that may be speech
constexpr double kOnsetSpan_s = 0.15, kOnset_s = 0.08;  // an interval begins when kOnset_s of the span are loud
constexpr double kHangover_s = 0.3;                     // an interval ends with the last loud frame before a pause this long
constexpr double kStart_s = 1;         // earlier onsets reach back to the first frame: the floor may have been speech
constexpr double kDoubtReach_s = 0.6;  // additional pre-roll after sound ruled out by Tonality: such speech is detected late
constexpr uint64_t kMinVoice = 300;    // sum of the evidence of a voice, in thousandths
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

size_t frames_of(double seconds, double shift_s) { return std::max<size_t>(1, std::lround(seconds / shift_s)); }

}  // namespace

VoiceActivity::VoiceActivity(double sample_rate_hz, uint32_t shift_samples, double pre_roll_s)
    : rise_(sample_rate_hz, shift_samples),
      tonality_(sample_rate_hz, shift_samples),
      onset_span_(frames_of(kOnsetSpan_s, shift_samples / sample_rate_hz)),
      onset_count_(frames_of(kOnset_s, shift_samples / sample_rate_hz)),
      hangover_(frames_of(kHangover_s, shift_samples / sample_rate_hz)),
      start_(frames_of(kStart_s, shift_samples / sample_rate_hz)),
      pre_roll_(frames_of(pre_roll_s, shift_samples / sample_rate_hz)),
      doubt_reach_(frames_of(kDoubtReach_s, shift_samples / sample_rate_hz)) {}

void VoiceActivity::add_frame(const float *samples) {
  const bool rises = rise_.rise_db(samples) > kLoud_db;
  tonality_.add_frame(samples, rises);
  const bool is_loud = rises && !tonality_.rules_out_speech();
  ++n_frames_;
  if (rises && !is_loud) ruled_out_until_ = n_frames_;
  loud_.push_back(is_loud);
  if (loud_.size() > onset_span_) loud_.pop_front();
  if (is_active_) {
    if (is_loud) loud_until_ = n_frames_;
    is_active_ = n_frames_ - loud_until_ < hangover_;
    if (!is_active_) intervals_.back().end = loud_until_;
  } else if (static_cast<size_t>(std::count(loud_.begin(), loud_.end(), true)) >= onset_count_) {
    begin_interval();
  }
  n_background_.push_back(n_frames_ - loud_until_);
  voice_ += tonality_.voice();
  voice_until_.push_back(voice_);
}

uint64_t VoiceActivity::begin_of(uint64_t onset, uint64_t reach) const {
  return std::max(onset < start_ ? 0 : onset - std::min(onset, reach), settled_);
}

void VoiceActivity::begin_interval() {
  const auto first = std::find(loud_.begin(), loud_.end(), true);
  const uint64_t onset = n_frames_ - static_cast<uint64_t>(loud_.end() - first);
  const bool is_after_doubt = ruled_out_until_ > 0 && n_frames_ - ruled_out_until_ <= onset_span_;
  intervals_.push_back({begin_of(onset, is_after_doubt ? pre_roll_ + doubt_reach_ : pre_roll_), onset, kNever});
  is_active_ = true;
  loud_until_ = n_frames_ - static_cast<uint64_t>(std::find(loud_.rbegin(), loud_.rend(), true) - loud_.rbegin());
}

// Returns the earliest frame at which an interval could still begin.
uint64_t VoiceActivity::first_unknown() const {
  if (finished_) return kNever;
  if (is_active_) return loud_until_;
  return begin_of(n_frames_ + 1 - std::min<uint64_t>(n_frames_ + 1, onset_span_), pre_roll_ + doubt_reach_);
}

uint64_t VoiceActivity::background_until(uint64_t frame) const {
  for (const Interval &interval : intervals_) {
    if (frame < interval.end) return std::min(std::max(frame, interval.begin), std::max(frame, first_unknown()));
  }
  return std::max(frame, first_unknown());
}

bool VoiceActivity::is_speech(uint64_t frame) const {
  const auto holds = [&](const Interval &interval) {
    const bool is_open = interval.end == kNever && !finished_;
    return interval.begin <= frame && frame < (is_open ? loud_until_ : interval.end);
  };
  return std::any_of(intervals_.begin(), intervals_.end(), holds);
}

uint64_t VoiceActivity::sound_from(uint64_t frame) const {
  for (const Interval &interval : intervals_) {
    if (interval.begin <= frame && frame < interval.end) return std::max(frame, interval.onset);
  }
  return frame;
}

uint64_t VoiceActivity::n_background_before(uint64_t frame) const {
  if (frame <= first_kept_ || frame > n_frames_) return 0;
  return n_background_[frame - first_kept_ - 1];
}

bool VoiceActivity::has_voice(uint64_t begin, uint64_t end) const {
  const auto voice_until = [this](uint64_t frame) {
    frame = std::min(frame, n_frames_);
    return frame <= first_kept_ ? voice_before_ : voice_until_[frame - first_kept_ - 1];
  };
  return voice_until(end) >= voice_until(begin) + kMinVoice;
}

void VoiceActivity::forget_before(uint64_t frame) {
  for (; first_kept_ < std::min(frame, n_frames_); ++first_kept_) {
    n_background_.pop_front();
    voice_before_ = voice_until_.front();
    voice_until_.pop_front();
  }
  while (!intervals_.empty() && intervals_.front().end <= frame) intervals_.pop_front();
}

}  // namespace asr
