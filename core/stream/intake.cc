// SPDX-License-Identifier: Apache-2.0
#include "core/stream/intake.h"

#include <algorithm>
#include <cmath>

#include "core/audio/file_kind.h"
#include "core/base/limits.h"
#include "core/base/log.h"

namespace asr {
namespace {

// Returns true if 16-bit values are the halves of 32-bit floats: every second one is then the sign, the exponent and the first
// digits of a value within full scale, which those of a sound are not.
bool are_halves_of_floats(const int16_t *values, size_t n) {
  constexpr size_t kLooked = 2048, kEnough = 32;
  size_t n_floats = 0;
  for (size_t i = 1; i < std::min(n, kLooked); i += 2) {
    const auto bits = static_cast<uint16_t>(values[i]);
    if (bits == 0) continue;
    if ((bits & 0x7fff) < 0x3000 || (bits & 0x7fff) > 0x3f80) return false;
    ++n_floats;
  }
  return n_floats >= kEnough;
}

constexpr size_t kPieceValues = 16384;  // values converted and appended at a time, so that a long call needs no second copy

}  // namespace

Intake::Intake(const StreamOptions &options, size_t row_length, size_t limit, uint64_t max_values, size_t min_values,
               Timeline timeline, std::function<void()> notify, StreamMeter *meter)
    : options_(options),
      row_length_(row_length),
      limit_(limit),
      max_values_(max_values),
      min_values_(min_values),
      notify_(std::move(notify)),
      meter_(meter),
      resampler_(options.resample_filter),
      timeline_(std::move(timeline)) {}

Intake::Requests Intake::requests(const char *call) {
  Requests requests(&mutex_, &timeline_);
  check_open(call);
  return requests;
}

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

void Intake::feed(const void *samples, size_t n, WhenFull when_full) {
  const HeldLog held;
  const bool refuses = when_full == WhenFull::kRefuse;
  const char *const call = refuses ? "asr_try_feed" : "asr_feed";
  std::unique_lock feeding(feeding_, std::defer_lock);
  bool is_busy = false;
  if (refuses) {
    is_busy = !feeding.try_lock();
  } else {
    feeding.lock();
  }
  {
    const std::lock_guard lock(mutex_);
    if (is_busy || (refuses && is_over_limit() && !closed_ && !finished_))
      fail(ASR_BUSY, "asr_try_feed: more audio than max_backlog_ms waits for work; nothing was taken, try again later");
    check_open(call);
  }
  const bool audio = options_.is_audio();
  const size_t unit = audio ? options_.format.n_channels : row_length_;  // values per sample or row
  const size_t value_bytes = audio ? options_.format.sample_bytes() : sizeof(float);
  if (n > kMaxFeedBytes / (unit * value_bytes)) {
    fail(ASR_INVALID_ARGUMENT, "%s: n is %zu; the most of one call is %zu", call, n,
         static_cast<size_t>(kMaxFeedBytes / (unit * value_bytes)));
  }
  check_finite(samples, n, unit, call);
  if (audio && n_fed_ == 0) check_bytes(samples, n * unit * value_bytes, call);
  const size_t piece = std::max<size_t>(1, kPieceValues / unit);
  std::vector<float> values;
  for (size_t done = 0; done < n; done += piece) {
    const size_t n_piece = std::min(piece, n - done);
    values.clear();
    append(static_cast<const char *>(samples) + done * unit * value_bytes, n_piece, &values);
    if (push(values, when_full == WhenFull::kWait, call)) notify_();
  }
  n_fed_ += n;
  const std::lock_guard lock(mutex_);
  if (is_full_) fail_full(call);
}

// Warns if the first samples are something else, whose sound is noise: floats, or the bytes of a file with a compressed sound.
void Intake::check_bytes(const void *samples, size_t n_bytes, const char *call) {
  if (options_.has_floats()) return;
  const FileKind *const kind = kind_of(static_cast<const unsigned char *>(samples), n_bytes, true).kind;
  if (kind != nullptr && kind->reader != FileKind::Reader::kDecoder) {
    log(ASR_LOG_WARNING,
        "%s: the first samples are the bytes of a file, %s, which are noise as samples; feed what it decodes to", call,
        kind->name);
  } else if (options_.format.type == SampleType::kInt16 &&
             are_halves_of_floats(static_cast<const int16_t *>(samples), n_bytes / sizeof(int16_t))) {
    log(ASR_LOG_WARNING,
        "%s: the samples look like 32-bit floats, which are noise as 16-bit integers; open the stream with ASR_INPUT_FLOAT",
        call);
  }
}

void Intake::check_finite(const void *samples, size_t n, size_t unit, const char *call) {
  if (!options_.has_floats()) return;
  const float *const values = static_cast<const float *>(samples);
  if (options_.is_audio()) {
    const float *const end = values + n * unit;
    const float *const bad = std::find_if_not(values, end, [](float value) { return std::isfinite(value); });
    if (bad == end) return check_scale(values, n * unit, call);
    const auto at = static_cast<size_t>(bad - values);
    fail(ASR_BAD_AUDIO, "%s: sample %llu of channel %zu is %s; nothing of this call was taken", call,
         static_cast<unsigned long long>(n_fed_ + at / unit), at % unit, std::isnan(*bad) ? "not a number" : "infinite");
  }
  uint64_t first_row;
  {
    const std::lock_guard lock(mutex_);
    first_row = timeline_.position() / unit;
  }
  const std::string fault = fault_of_rows(values, n, unit, options_.input == ASR_INPUT_LOGLIKES, first_row);
  if (!fault.empty()) fail(ASR_BAD_AUDIO, "%s: %s; nothing of this call was taken", call, fault.c_str());
}

// Warns once of floats in the range of 16-bit integers. Their words are right, as mean normalisation takes the level away, but
// whatever knows how loud speech is takes silence for it: voice activity, comfort noise.
void Intake::check_scale(const float *values, size_t n, const char *call) {
  constexpr float kFarBeyond = 16;  // times full scale, which neither resampling nor a decoder overshoots
  if (warned_of_scale_) return;
  const float *const far = std::find_if(values, values + n, [](float value) { return std::fabs(value) > kFarBeyond; });
  if (far == values + n) return;
  warned_of_scale_ = true;
  log(ASR_LOG_WARNING, "%s: a sample is %g; the full scale of floats is -1..1, divide those of 16-bit integers by 32768", call,
      static_cast<double>(*far));
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

// Returns whether enough can be taken for the engine to be notified, which the last values make sure of.
bool Intake::push(const std::vector<float> &values, bool may_wait, const char *call) {
  std::unique_lock lock(mutex_);
  if (may_wait) room_.wait(lock, [&] { return !is_over_limit() || closed_; });
  check_open(call);
  const size_t n = std::min<uint64_t>(values.size(), max_values_ - timeline_.position());
  ring_.push(values.data(), n);
  return advance(n, values.size());
}

// Notes that n of n_wanted values were appended. Returns as push().
bool Intake::advance(size_t n, size_t n_wanted) {
  timeline_.advance(n);
  meter_->set_fed(timeline_.position());
  if (options_.idle) last_fed_ = Clock::now();
  finished_ = is_full_ = n < n_wanted;
  return n_waiting() >= min_values_ || is_full_;
}

void Intake::feed_given(std::shared_ptr<GivenPiece> piece, size_t n_rows, WhenFull when_full) {
  const HeldLog held;
  const char *const call = "asr_feed_device";
  const std::lock_guard feeding(feeding_);
  bool is_enough;
  {
    std::unique_lock lock(mutex_);
    if (when_full == WhenFull::kWait) room_.wait(lock, [&] { return !is_over_limit() || closed_; });
    check_open(call);
    const size_t n = std::min<uint64_t>(n_rows * row_length_, max_values_ - timeline_.position());
    piece->first_frame = timeline_.position() / row_length_;
    if (n > 0) given_.push_back({std::move(piece), 0, n / row_length_});
    n_given_ += n;
    is_enough = advance(n, n_rows * row_length_);
  }
  if (is_enough) notify_();
  const std::lock_guard lock(mutex_);
  if (is_full_) fail_full(call);
}

// If the rates differ, the last samples before the mark are still in the resampler and come after it.
void Intake::mark() {
  const std::lock_guard feeding(feeding_);
  {
    const std::lock_guard lock(mutex_);
    check_open("asr_end_utterance");
    timeline_.end();
  }
  notify_();
}

// A caller who waits for room is feeding.
std::optional<Intake::Clock::time_point> Intake::mark_if_idle_since(Clock::time_point then) {
  const std::unique_lock feeding(feeding_, std::try_to_lock);
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || finished_ || timeline_.position() == 0 || timeline_.is_at_end()) return std::nullopt;
    if (!feeding.owns_lock()) return Clock::now();
    if (last_fed_ > then) return last_fed_;
    timeline_.end();
  }
  notify_();
  return std::nullopt;
}

void Intake::finish() {
  std::lock_guard feeding(feeding_);
  std::vector<float> values;
  {
    std::lock_guard lock(mutex_);
    if (closed_) throw *closed_;
    if (is_full_) return;
    if (finished_) fail(ASR_INVALID_STATE, "asr_finish: the stream was finished already");
    ends_at_mark_ = timeline_.is_at_end();
    if (options_.is_audio()) resampler_.finish(&values);
    noise_.add(values.data(), values.size());
    ring_.push(values.data(), values.size());
    timeline_.advance(values.size());
    meter_->set_fed(timeline_.position());
    finished_ = true;
  }
  notify_();
}

// Returns how many of n values may be taken: whole rows, and none beyond a mark.
size_t Intake::n_takable(size_t n) const {
  if (timeline_.has_end()) {
    n = std::min<uint64_t>(n, timeline_.next_end() - n_taken_);
  } else if (!finished_ && n_waiting() < min_values_) {
    return 0;
  }
  return std::min(n, n_waiting()) / row_length_ * row_length_;
}

size_t Intake::take(float *values, size_t n) {
  {
    std::lock_guard lock(mutex_);
    n = ring_.pop(values, n_takable(n));
    n_taken_ += n;
  }
  room_.notify_all();
  return n;
}

size_t Intake::take_given(size_t n, std::vector<GivenSpan> *spans) {
  {
    std::lock_guard lock(mutex_);
    n = n_takable(n);
    move_rows(n / row_length_, &given_, spans);
    n_given_ -= n;
    n_taken_ += n;
  }
  room_.notify_all();
  return n;
}

bool Intake::ended() const {
  std::lock_guard lock(mutex_);
  return finished_ && n_waiting() == 0 && !timeline_.has_end();
}

bool Intake::at_mark() const {
  std::lock_guard lock(mutex_);
  return timeline_.next_end() == n_taken_;
}

bool Intake::is_finished() const {
  std::lock_guard lock(mutex_);
  return finished_ && !is_full_ && !closed_;
}

bool Intake::ends_at_mark() const {
  std::lock_guard lock(mutex_);
  return ends_at_mark_;
}

void Intake::pass_mark() {
  std::lock_guard lock(mutex_);
  timeline_.pass_end();
}

uint64_t Intake::n_values() const {
  std::lock_guard lock(mutex_);
  return timeline_.position();
}

// Rows of the device that wait are given back, outside the lock.
void Intake::close(const Error &reason) noexcept {
  std::list<GivenSpan> dropped;
  {
    std::lock_guard lock(mutex_);
    if (!closed_) closed_ = reason;
    dropped.swap(given_);
    n_given_ = 0;
  }
  room_.notify_all();
}

}  // namespace asr
