// SPDX-License-Identifier: Apache-2.0
#include "tests/stress/session.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr::stress {
namespace {

constexpr uint32_t kMaxAlternatives = 30;
constexpr auto kMaxSilence = std::chrono::minutes(2);

void check(asr_status status) {
  if (status != ASR_OK) fail(status, "%s", asr_last_error());
}

uint64_t below(Random &random, uint64_t n) { return n == 0 ? 0 : random() % n; }

const void *address(const Recording &recording, size_t at) {
  if (!recording.samples.empty()) return recording.samples.data() + at;
  return recording.rows.data() + at * recording.row_length;
}

}  // namespace

asr_stream_config stream_config(const Recording &recording, const Search &search) {
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.input = recording.samples.empty() ? ASR_INPUT_FEATURES : ASR_INPUT_INT16;
  config.sample_rate_hz = recording.samples.empty() ? 0 : 16000;
  if (!recording.samples.empty()) config.cmn = ASR_CMN_LIVE;  // the model's may be another for streams with partial results
  config.beam = search.beam;
  config.lattice_beam = search.lattice_beam;
  config.acoustic_scale = search.acoustic_scale;
  config.max_active = search.max_active;
  config.n_best = search.lattice_beam > 0 ? kMaxAlternatives : 1;
  return config;
}

Found recognize(asr_engine *engine, const Recording &recording, const Search &search) {
  Random random(0);
  Session session(engine, recording, search, Fate::kRun, &random);
  while (session.step()) {
  }
  return *session.found();
}

Session::Session(asr_engine *engine, const Recording &recording, const Search &search, Fate fate, Random *random)
    : recording_(recording), fate_(fate), random_(*random), stop_(recording.n) {
  asr_stream_config config = stream_config(recording, search);
  max_alternatives_ = config.n_best;
  config.partial_interval_ms = below(random_, 3) == 0 ? 100 + static_cast<uint32_t>(below(random_, 400)) : 0;
  partial_interval_ms_ = config.partial_interval_ms;
  polled_ = below(random_, 3) != 0;
  if (!polled_) {
    config.callback = on_event;
    config.user_data = this;
  }
  if (fate != Fate::kRun) {
    finishes_ = below(random_, 3) == 0;
    if (!finishes_) stop_ = below(random_, recording.n + 1);
  }
  check(asr_open(engine, &config, &stream_));
}

std::string Session::description() const {
  return format("%s, %s, partial results every %u ms (%u came)", polled_ ? "polled" : "with callbacks",
                cancelled_ ? "cancelled" : "not cancelled", partial_interval_ms_, n_partials_);
}

bool Session::step() {
  if (at_ < stop_) {
    feed_piece();
    return true;
  }
  if (finishes_ && !finished_) {
    check(asr_finish(stream_));
    finished_ = true;
    return true;
  }
  if (fate_ == Fate::kClose) {
    asr_close(stream_);
    stream_ = nullptr;
    return false;
  }
  if (fate_ == Fate::kLeave) return false;
  if (fate_ == Fate::kCancel && !cancelled_) {
    check(asr_cancel(stream_));
    cancelled_ = true;
    return true;
  }
  return read();
}

// Feeds a few rows, some, or all of the rest. A row is 10 ms, 160 samples.
void Session::feed_piece() {
  const size_t unit = recording_.samples.empty() ? 1 : 160, left = stop_ - at_;
  const size_t most[] = {3 * unit, 40 * unit, 300 * unit, left};
  const size_t n = std::min(left, 1 + below(random_, most[below(random_, std::size(most))]));
  check(asr_feed(stream_, address(recording_, at_), n));
  at_ += n;
}

// Waits briefly for the end.
bool Session::read() {
  const auto now = std::chrono::steady_clock::now();
  if (!waiting_since_) waiting_since_ = now;
  const asr_status status = asr_wait(stream_, static_cast<int32_t>(below(random_, 20)));
  if (status == ASR_TIMEOUT) {
    if (now - *waiting_since_ > kMaxSilence) fail(ASR_TIMEOUT, "nothing came for two minutes");
    return true;
  }
  check(status);
  waiting_since_.reset();
  if (polled_) {
    asr_event *event = nullptr;
    check(asr_result(stream_, &event));
    const std::unique_ptr<asr_event, void (*)(asr_event *)> owner(event, asr_event_free);
    if (event != nullptr) take(event);
  }
  std::lock_guard lock(mutex_);
  if (error_ && !cancelled_) fail(ASR_INTERNAL, "%s", error_->c_str());
  if (ended_ && !found_ && !error_) fail(ASR_INTERNAL, "the stream ended with neither a result nor an error");
  return !ended_;
}

void Session::on_event(asr_stream *, asr_event *event, void *user_data) {
  static_cast<Session *>(user_data)->take(event);
  asr_event_free(event);
}

void Session::take(const asr_event *event) {
  const asr_event_kind kind = asr_event_get_kind(event);
  std::lock_guard lock(mutex_);
  if (kind == ASR_EVENT_END) ended_ = true;
  if (kind == ASR_EVENT_PARTIAL) ++n_partials_;
  try {
    if (kind == ASR_EVENT_FINAL) found_ = found_in(event, max_alternatives_);
    if (kind == ASR_EVENT_ERROR) error_ = asr_event_text(event);
  } catch (const std::exception &failure) {
    error_ = failure.what();  // must not enter the library, whose thread this may be
  }
}

}  // namespace asr::stress
