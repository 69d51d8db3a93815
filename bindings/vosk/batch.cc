// SPDX-License-Identifier: Apache-2.0
#include "bindings/vosk/batch.h"

#include <algorithm>

#include "bindings/vosk/recognizer.h"

namespace senone::vosk {

namespace {

constexpr double kPiece_s = 0.2;
constexpr double kUnfinished_s = 1.0;  // what a stream may hold back until its audio is complete

}  // namespace

BatchRecognizer::BatchRecognizer(std::shared_ptr<Model> model, float rate_hz)
    : model_(std::move(model)), rate_hz_(checked_rate(rate_hz)) {
  options_.words = true;
  if (!model_->has_graph()) throw Error(ASR_NOT_FOUND, "the bundle has no graph; make one with `senone graph`");
}

void BatchRecognizer::set_nlsml(bool nlsml) {
  const std::lock_guard lock(mutex_);
  options_.nlsml = nlsml;
  options_.max_alternatives = nlsml ? 1 : 0;
}

void BatchRecognizer::accept_bytes(const char *bytes, size_t n_bytes) {
  const std::lock_guard lock(mutex_);
  if (is_finished_) throw Error(ASR_INVALID_STATE, "the stream was finished; make another recognizer for more audio");
  const std::vector<int16_t> samples = samples_of(bytes, n_bytes, &odd_byte_);
  if (samples.empty()) return;
  if (!stream_) {
    Endpoints endpoints;
    endpoints.no_input_ms = 0;
    stream_ = model_->engine().open(stream_config(*model_, {}, rate_hz_, options_, endpoints));
  }
  stream_.feed(samples);
  take_events();
}

void BatchRecognizer::finish() {
  const std::lock_guard lock(mutex_);
  if (is_finished_) return;
  is_finished_ = true;
  has_ended_ = !stream_;
  if (stream_) stream_.finish();
}

void BatchRecognizer::wait() {
  const std::lock_guard lock(mutex_);
  if (!stream_ || has_ended_) return;
  double held_back_s = kMinHeldBack_s;
  if (!is_finished_) settle(stream_, kPiece_s, &held_back_s);
  take_events();
  while (is_finished_ && !has_ended_) {
    stream_.wait();
    take_events();
  }
}

void BatchRecognizer::take_events() {
  if (!stream_ || has_ended_) return;
  for (Event event = stream_.poll(); event && !has_ended_; event = stream_.poll()) {
    const EventKind kind = event.kind();
    if (kind == EventKind::kError) report(std::string(event.text()));
    if (kind == EventKind::kError || kind == EventKind::kEnd) is_finished_ = has_ended_ = true;
    if (kind == EventKind::kFinal && !event.text().empty()) {
      std::vector<Heard> finals;
      finals.push_back({std::move(event), 0, false});
      results_.push_back(result_of(finals, options_));
    }
  }
}

const char *BatchRecognizer::front() {
  const std::lock_guard lock(mutex_);
  take_events();
  text_ = results_.empty() ? std::string() : results_.front();
  return text_.c_str();
}

void BatchRecognizer::pop() {
  const std::lock_guard lock(mutex_);
  if (!results_.empty()) results_.pop_front();
}

int BatchRecognizer::n_pending() {
  const std::lock_guard lock(mutex_);
  take_events();
  if (!stream_ || has_ended_) return 0;
  const double held_back_s = is_finished_ ? 0 : kUnfinished_s;
  const int n = static_cast<int>(std::max(0.0, stream_.stats().waiting_s - held_back_s) / kPiece_s);
  return is_finished_ ? std::max(1, n) : n;
}

std::shared_ptr<BatchRecognizer> BatchModel::add(float rate_hz) {
  auto recognizer = std::make_shared<BatchRecognizer>(model_, rate_hz);
  const std::lock_guard lock(mutex_);
  recognizers_.erase(std::remove_if(recognizers_.begin(), recognizers_.end(), [](const auto &each) { return each.expired(); }),
                     recognizers_.end());
  recognizers_.push_back(recognizer);
  return recognizer;
}

void BatchModel::wait() {
  std::vector<std::weak_ptr<BatchRecognizer>> all;
  {
    const std::lock_guard lock(mutex_);
    all = recognizers_;
  }
  for (const auto &each : all) {
    if (const std::shared_ptr<BatchRecognizer> recognizer = each.lock()) recognizer->wait();
  }
}

}  // namespace senone::vosk
