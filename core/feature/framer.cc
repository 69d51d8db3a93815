// SPDX-License-Identifier: Apache-2.0
#include "core/feature/framer.h"

#include <algorithm>

namespace asr {
namespace {

constexpr size_t kSlackSamples = 8192;  // dropped samples are erased at least this many at a time

}  // namespace

Framer::Framer(const FrontEnd &front_end)
    : edges_(front_end.edges),
      window_(front_end.window_samples),
      shift_(front_end.shift_samples),
      offset_(edges_ == FrameEdges::kCentred ? int64_t{shift_ / 2} - int64_t{window_ / 2} : 0) {
  if (edges_ != FrameEdges::kCentred) {  // silence before the signal
    buffer_.push_back(0);
    begin_ = -1;
    led_in_ = true;
  }
}

void Framer::push(const float *samples, size_t n) {
  buffer_.insert(buffer_.end(), samples, samples + n);
  n_samples_ += n;
  if (!led_in_ && n_samples_ > static_cast<uint64_t>(-offset_)) lead_in();
}

// Returns the sample at a position of the signal, mirrored at both ends. The buffer must still begin at position 0.
float Framer::mirrored(int64_t position) const {
  const int64_t n = static_cast<int64_t>(n_samples_);
  while (position < 0 || position >= n) position = position < 0 ? -1 - position : 2 * n - 1 - position;
  return buffer_[position - begin_];
}

// Inserts the mirror image of the first samples, and the sample before frame 0, in front of the signal.
void Framer::lead_in() {
  std::vector<float> image;
  for (int64_t position = offset_ - 1; position < 0; ++position) image.push_back(mirrored(position));
  begin_ = offset_ - 1;
  buffer_.insert(buffer_.begin(), image.begin(), image.end());
  led_in_ = true;
}

uint64_t Framer::total_frames() const {
  const uint64_t n = n_samples_;
  switch (edges_) {
    case FrameEdges::kSnip:
      return n < window_ ? 0 : 1 + (n - window_) / shift_;
    case FrameEdges::kPadTail:
      return n == 0 ? 0 : n < window_ ? 1 : 2 + (n - window_) / shift_;
    case FrameEdges::kCentred:
      return (n + shift_ / 2) / shift_;
  }
  return 0;
}

void Framer::finish() {
  finished_ = true;
  if (total_frames() == 0) return;
  const int64_t end = offset_ + static_cast<int64_t>((total_frames() - 1) * shift_ + window_);
  std::vector<float> tail;
  for (int64_t position = static_cast<int64_t>(n_samples_); position < end; ++position) {
    tail.push_back(edges_ == FrameEdges::kCentred ? mirrored(position) : 0);
  }
  if (!led_in_) lead_in();
  buffer_.insert(buffer_.end(), tail.begin(), tail.end());
}

uint64_t Framer::ready_frames() const {
  if (finished_) return total_frames() - next_;
  if (!led_in_) return 0;
  const int64_t known = static_cast<int64_t>(n_samples_) - offset_ - window_;  // start of the last complete frame
  const uint64_t whole = known < 0 ? 0 : 1 + static_cast<uint64_t>(known) / shift_;
  return whole - next_;
}

const float *Framer::samples() const { return buffer_.data() + (offset_ + static_cast<int64_t>(next_ * shift_) - begin_); }

void Framer::skip(uint64_t n_frames) {
  next_ += n_frames;
  const int64_t keep_from = offset_ + static_cast<int64_t>(next_ * shift_) - 1;  // the sample before the next frame
  const auto dead = static_cast<size_t>(std::clamp<int64_t>(keep_from - begin_, 0, static_cast<int64_t>(buffer_.size())));
  if (dead < kSlackSamples) return;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(dead));
  begin_ += static_cast<int64_t>(dead);
}

}  // namespace asr
