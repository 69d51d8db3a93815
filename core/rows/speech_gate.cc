// SPDX-License-Identifier: Apache-2.0
#include "core/rows/speech_gate.h"

#include <algorithm>

namespace asr {

SpeechGate::SpeechGate(const FrontEnd &front_end, uint32_t window_frames, double pre_roll_s)
    : shift_(front_end.shift_samples),
      window_(size_t{window_frames} * shift_),
      activity_(front_end.sample_rate_hz, shift_, pre_roll_s) {}

size_t SpeechGate::n_wanted() const { return window_ - std::min(window_, n_releasable()); }

void SpeechGate::add(const float *samples, size_t n) {
  held_.insert(held_.end(), samples, samples + n);
  const uint64_t end = position_ + held_.size();
  while ((activity_.n_frames() + 1) * shift_ <= end) {
    activity_.add_frame(held_.data() + (activity_.n_frames() * shift_ - position_));
  }
}

void SpeechGate::finish() {
  activity_.finish();
  finished_ = true;
}

void SpeechGate::begin_again(uint64_t frame) {
  held_.clear();
  position_ = frame * shift_;
  finished_ = false;
}

// Returns whole frames only. While closed it holds frames that may have to be decoded: rows already made would stay in the
// source.
size_t SpeechGate::n_releasable() const {
  if (finished_) return held_.size();
  uint64_t n_frames = activity_.n_frames();
  if (!is_open_) {
    const uint64_t end = activity_.background_until(next_frame_);
    if (!activity_.is_speech(end)) n_frames = std::min(n_frames, end);
  }
  const uint64_t end = n_frames * shift_;
  return end > position_ ? std::min<size_t>(held_.size(), end - position_) : 0;
}

void SpeechGate::release(size_t n) {
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(n));
  position_ += n;
}

}  // namespace asr
