// SPDX-License-Identifier: Apache-2.0
// Rows of a network's outputs in memory of the device (asr_feed_device), which the device makes log-likelihoods of states as
// TokenRows does (core/backend/asr_backend_given.h). Made by make_row_source().
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "core/rows/row_source.h"

namespace asr {

class GivenRows final : public RowSource {
 public:
  GivenRows(const LoadedModel &model, const StreamOptions &options);

  void add(const float *, size_t) override {}
  void add_given(std::vector<GivenSpan> spans) override;
  WindowRows::Place take(size_t n, WindowRows *window) override;
  bool drop(size_t n, WindowRows *window) override;
  const float *rows(size_t) const override { return nullptr; }

 private:
  size_t n_waiting() const override { return n_waiting_; }
  bool is_done() const override { return n_waiting_ == 0; }

  const std::shared_ptr<asr_backend_given_map> map_;
  std::deque<GivenSpan> spans_;  // not yet taken
  size_t n_waiting_ = 0;         // rows in them
};

}  // namespace asr
