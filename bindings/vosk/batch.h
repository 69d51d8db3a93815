// SPDX-License-Identifier: Apache-2.0
// BatchRecognizer is VoskBatchRecognizer: a stream that is fed without waiting for its results.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/vosk/model.h"
#include "bindings/vosk/result.h"

namespace senone::vosk {

class BatchRecognizer {
 public:
  // Throws Error.
  BatchRecognizer(std::shared_ptr<Model> model, float rate_hz);

  void set_nlsml(bool nlsml);
  void accept_bytes(const char *bytes, size_t n_bytes);
  void finish();
  void wait();  // until all is recognised that can be

  // Returns the oldest result, valid until the next call; "" if there is none.
  const char *front();
  void pop();
  int n_pending();

 private:
  void take_events();

  const std::shared_ptr<Model> model_;
  const uint32_t rate_hz_;

  std::mutex mutex_;  // guards the members below
  ResultOptions options_;
  Stream stream_;  // empty before the first samples
  bool is_finished_ = false, has_ended_ = false;
  int odd_byte_ = -1;  // of a sample that a call has cut; -1: none
  std::deque<std::string> results_;
  std::string text_;
};

// BatchModel is VoskBatchModel: a model that knows its recognizers, to wait for them.
class BatchModel {
 public:
  explicit BatchModel(const std::string &path) : model_(std::make_shared<Model>(path)) {}

  std::shared_ptr<BatchRecognizer> add(float rate_hz);
  void wait();

 private:
  const std::shared_ptr<Model> model_;
  std::mutex mutex_;  // guards the member below
  std::vector<std::weak_ptr<BatchRecognizer>> recognizers_;
};

}  // namespace senone::vosk
