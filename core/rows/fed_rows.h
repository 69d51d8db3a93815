// SPDX-License-Identifier: Apache-2.0
// FedRows passes on the rows that a stream is fed: rows of features, or of log-likelihoods. Made by make_row_source().
#pragma once

#include <vector>

#include "core/rows/row_source.h"

namespace asr {

class FedRows final : public RowSource {
 public:
  FedRows(const LoadedModel &model, const StreamOptions &options, SpeakerTrack *speaker);

  void add(const float *values, size_t n) override { rows_.insert(rows_.end(), values, values + n); }
  WindowRows::Place take(size_t n, WindowRows *window) override;
  bool drop(size_t n, WindowRows *window) override;
  const float *rows(size_t) const override { return rows_.data(); }

 private:
  size_t n_waiting() const override { return rows_.size() / row_length_; }
  bool is_done() const override { return rows_.empty(); }

  const size_t row_length_;
  const bool are_loglikes_;
  SpeakerTrack *const speaker_;
  std::vector<float> rows_;  // not yet taken
};

}  // namespace asr
