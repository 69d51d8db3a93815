// SPDX-License-Identifier: Apache-2.0
// InputHistory takes a stream's input from its Intake. If the engine has a fallback it keeps what it took since shortly before
// the utterance, so that another device can decode that again. Used by the engine's thread.
#pragma once

#include <algorithm>
#include <vector>

#include "core/stream/intake.h"

namespace asr {

class InputHistory {
 public:
  // frame_values: values per frame shift.
  InputHistory(Intake *intake, size_t frame_values, bool is_kept)
      : intake_(intake), frame_values_(frame_values), is_kept_(is_kept) {}

  bool is_kept() const { return is_kept_; }
  uint64_t first_frame() const { return first_frame_; }

  // Returns the number of values taken, at most n: those that are read again, or else new ones.
  size_t take(float *values, size_t n) {
    if (n == 0) return 0;
    if (n_read_ < kept_.size()) {
      const size_t n_again = std::min(n, kept_.size() - n_read_);
      std::copy_n(kept_.begin() + static_cast<ptrdiff_t>(n_read_), n_again, values);
      n_read_ += n_again;
      return n_again;
    }
    const size_t n_taken = intake_->take(values, n);
    if (is_kept_) {
      kept_.insert(kept_.end(), values, values + n_taken);
      n_read_ += n_taken;
    }
    return n_taken;
  }
  // The same of rows in memory of the device, which are never kept.
  size_t take_given(size_t n, std::vector<GivenSpan> *spans) { return n > 0 ? intake_->take_given(n, spans) : 0; }
  bool ended() const { return n_read_ == kept_.size() && intake_->ended(); }
  bool at_mark() const { return n_read_ == kept_.size() && intake_->at_mark(); }

  void begin_again() noexcept { n_read_ = 0; }
  void clear() noexcept { kept_ = {}; }  // nothing is read again

  // Drops what is not needed to decode again from an utterance's first frame. Its first rows are also made from the margin.
  void forget_before(uint64_t utterance_frame, size_t n_margin_frames) noexcept {
    const uint64_t last = std::min(utterance_frame, first_frame_ + n_read_ / frame_values_);  // it may begin in later audio
    const uint64_t begin = std::max(first_frame_, last - std::min<uint64_t>(last, n_margin_frames));
    const auto n = static_cast<size_t>((begin - first_frame_) * frame_values_);
    first_frame_ = begin;
    if (!is_kept_) return;
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(n));
    n_read_ -= n;
  }

 private:
  Intake *const intake_;
  const size_t frame_values_;
  const bool is_kept_;
  std::vector<float> kept_;
  uint64_t first_frame_ = 0;  // of kept_
  size_t n_read_ = 0;         // values of kept_ that were taken since the last beginning
};

}  // namespace asr
