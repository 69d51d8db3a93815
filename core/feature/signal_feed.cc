// SPDX-License-Identifier: Apache-2.0
#include "core/feature/signal_feed.h"

#include <algorithm>

namespace asr {

SignalFeed::SignalFeed(const FeatureTables &tables, uint32_t window_frames, bool is_whole)
    : framer_(tables.front_end()),
      window_frames_(window_frames),
      lookahead_(tables.view()->dynamics->lookahead),
      is_whole_(is_whole) {}

void SignalFeed::add_samples(const float *samples, size_t n) {
  drop_given();
  framer_.push(samples, n);
}

void SignalFeed::finish() {
  drop_given();
  framer_.finish();
  finished_ = true;
}

void SignalFeed::next_frames(asr_step_job *job) {
  drop_given();
  const uint64_t room = is_whole_ ? UINT64_MAX : 2 * uint64_t{window_frames_} + lookahead_ - (n_given_ - n_made_);
  n_described_ = std::min({framer_.ready_frames(), uint64_t{window_frames_}, room});
  n_given_ += n_described_;
  ended_ = finished_ && n_described_ == framer_.ready_frames();
  job->samples = n_described_ > 0 ? framer_.samples() : nullptr;
  job->n_frames = static_cast<uint32_t>(n_described_);
  job->ends = ended_ ? 1 : 0;
}

size_t SignalFeed::ready_rows() const {
  const uint64_t n_hidden = ended_ ? 0 : is_whole_ ? n_given_ : lookahead_;
  const uint64_t n_complete = n_given_ - std::min(n_given_, n_hidden);
  return static_cast<size_t>(n_complete - std::min(n_complete, n_made_));
}

void SignalFeed::drop_given() {
  framer_.skip(n_described_);
  n_described_ = 0;
}

}  // namespace asr
