// SPDX-License-Identifier: Apache-2.0
#include "core/stream/intake.h"

#include <algorithm>

#include "core/base/limits.h"

namespace asr {
namespace {

constexpr size_t kPieceValues = 16384;  // values converted and appended at a time, so that a long call needs no second copy

}  // namespace

Intake::Intake(const StreamOptions &options, size_t row_length, size_t limit, uint64_t most_values, size_t min_values,
               std::function<void()> notify)
    : options_(options),
      row_length_(row_length),
      limit_(limit),
      most_values_(most_values),
      min_values_(min_values),
      notify_(std::move(notify)),
      resampler_(options.resample_filter) {}

void Intake::check_open(const char *call) const {
  if (closed_) throw *closed_;
  if (is_full_) fail_full(call);
  if (finished_) fail(ASR_INVALID_STATE, "%s: the stream was finished; open another for more audio", call);
}

void Intake::fail_full(const char *call) const {
  fail(ASR_INVALID_STATE,
       "%s: the utterance has reached the %u s of asr_stream_config.max_utterance_s and ends there; its results follow. Raise "
       "the limit, set an endpoint, or open another stream for the rest",
       call, options_.max_utterance_s);
}

void Intake::feed(const void *samples, size_t n, bool may_wait) {
  const std::lock_guard feeding(feeding_);
  feed_pieces(samples, n, may_wait, "asr_feed");
}

void Intake::try_feed(const void *samples, size_t n) {
  const std::unique_lock feeding(feeding_, std::try_to_lock);
  bool is_full = !feeding.owns_lock();  // another thread is feeding or blocked
  if (!is_full) {
    const std::lock_guard lock(mutex_);
    is_full = limit_ > 0 && ring_.size() > limit_ && !closed_ && !finished_;
  }
  if (is_full)
    fail(ASR_BUSY, "asr_try_feed: more audio than max_backlog_ms waits for work; nothing was taken, try again later");
  feed_pieces(samples, n, false, "asr_try_feed");
}

void Intake::feed_pieces(const void *samples, size_t n, bool may_wait, const char *call) {
  {
    const std::lock_guard lock(mutex_);
    check_open(call);
  }
  const bool audio = options_.is_audio();
  const size_t unit = audio ? options_.format.n_channels : row_length_;  // values per sample or row
  const size_t value_bytes = audio ? options_.format.sample_bytes() : sizeof(float);
  if (n > kMostFeedBytes / (unit * value_bytes)) {
    fail(ASR_INVALID_ARGUMENT, "%s: n is %zu; the most of one call is %zu", call, n,
         static_cast<size_t>(kMostFeedBytes / (unit * value_bytes)));
  }
  check_finite(samples, n, unit, call);
  const size_t piece = std::max<size_t>(1, kPieceValues / unit);
  std::vector<float> values;
  for (size_t done = 0; done < n; done += piece) {
    const size_t n_piece = std::min(piece, n - done);
    values.clear();
    append(static_cast<const char *>(samples) + done * unit * value_bytes, n_piece, &values);
    push(values, may_wait, call);
  }
}

void Intake::check_finite(const void *samples, size_t n, size_t unit, const char *call) {
  if (!options_.has_floats()) return;
  const float *const values = static_cast<const float *>(samples);
  if (options_.is_audio()) {
    if (all_finite(values, n * unit)) return;
    fail(ASR_BAD_AUDIO, "%s: a value is infinite or not a number; nothing of this call was taken", call);
  }
  uint64_t first_row;
  {
    const std::lock_guard lock(mutex_);
    first_row = n_values_ / unit;
  }
  const std::string fault = fault_of_rows(values, n, unit, options_.input == ASR_INPUT_LOGLIKES, first_row);
  if (!fault.empty()) fail(ASR_BAD_AUDIO, "%s: %s; nothing of this call was taken", call, fault.c_str());
}

void Intake::append(const void *samples, size_t n, std::vector<float> *values) {
  if (!options_.is_audio()) {
    const float *rows = static_cast<const float *>(samples);
    values->assign(rows, rows + n * row_length_);
    return;
  }
  mono_.resize(n);
  to_mono(options_.format, samples, n, mono_.data());
  resampler_.feed(mono_.data(), n, values);
  noise_.add(values->data(), values->size());
}

void Intake::push(const std::vector<float> &values, bool may_wait, const char *call) {
  bool enough, is_full;
  {
    std::unique_lock lock(mutex_);
    if (may_wait && limit_ > 0) room_.wait(lock, [&] { return ring_.size() <= limit_ || closed_; });
    check_open(call);
    const size_t n = std::min<uint64_t>(values.size(), most_values_ - n_values_);
    ring_.push(values.data(), n);
    n_values_ += n;
    finished_ = is_full_ = is_full = n < values.size();
    enough = ring_.size() >= min_values_ || is_full;
  }
  if (enough) notify_();
  if (is_full) fail_full(call);
}

// If the rates differ, the last samples before the mark are still in the resampler and come after it.
void Intake::mark() {
  const std::lock_guard feeding(feeding_);
  {
    const std::lock_guard lock(mutex_);
    check_open("asr_end_utterance");
    if (marks_.empty() || marks_.back() < n_values_) marks_.push_back(n_values_);
    last_mark_ = n_values_;
  }
  notify_();
}

void Intake::finish() {
  std::lock_guard feeding(feeding_);
  std::vector<float> values;
  {
    std::lock_guard lock(mutex_);
    if (closed_) throw *closed_;
    if (is_full_) return;
    if (finished_) fail(ASR_INVALID_STATE, "asr_finish: the stream was finished already");
    ends_at_mark_ = last_mark_ == n_values_;
    if (options_.is_audio()) resampler_.finish(&values);
    noise_.add(values.data(), values.size());
    ring_.push(values.data(), values.size());
    n_values_ += values.size();
    finished_ = true;
  }
  notify_();
}

size_t Intake::take(float *values, size_t n) {
  size_t n_taken;
  {
    std::lock_guard lock(mutex_);
    if (!marks_.empty()) {
      n = std::min<uint64_t>(n, marks_.front() - n_taken_);
    } else if (!finished_ && ring_.size() < min_values_) {
      return 0;
    }
    n_taken = ring_.pop(values, n / row_length_ * row_length_);
    n_taken_ += n_taken;
  }
  room_.notify_all();
  return n_taken;
}

bool Intake::ended() const {
  std::lock_guard lock(mutex_);
  return finished_ && ring_.size() == 0 && marks_.empty();
}

bool Intake::at_mark() const {
  std::lock_guard lock(mutex_);
  return !marks_.empty() && marks_.front() == n_taken_;
}

bool Intake::ends_at_mark() const {
  std::lock_guard lock(mutex_);
  return ends_at_mark_;
}

void Intake::pass_mark() {
  std::lock_guard lock(mutex_);
  marks_.pop_front();
}

uint64_t Intake::n_values() const {
  std::lock_guard lock(mutex_);
  return n_values_;
}

uint64_t Intake::n_values(const char *call) const {
  std::lock_guard lock(mutex_);
  check_open(call);
  return n_values_;
}

void Intake::close(const Error &reason) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!closed_) closed_ = reason;
  }
  room_.notify_all();
}

}  // namespace asr
