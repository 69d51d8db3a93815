// SPDX-License-Identifier: Apache-2.0
// Dynamic features, splicing and the linear transform: from normalised cepstra to the rows that are scored, one row for
// each frame, as soon as the frames to its right are known (F10 of docs/equations.md). Used by FeaturePipeline. Evaluates the
// tables of an asr_dynamics_view, in the order that back ends keep to as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

// The last rows of a sequence, addressed by their number in it; numbers outside give the nearest row there is.
class RowHistory {
 public:
  explicit RowHistory(uint32_t n_columns) : n_columns_(n_columns) {}
  void push(const float *row);
  const float *row(int64_t number) const;
  int64_t size() const { return begin_ + static_cast<int64_t>(rows_.size() / n_columns_); }  // rows pushed so far
  void drop_before(int64_t number);

 private:
  uint32_t n_columns_;
  int64_t begin_ = 0;  // number of rows_[0]; row 0 of the sequence is never asked for once it is dropped
  std::vector<float> rows_;
};

class DynamicFeatures {
 public:
  explicit DynamicFeatures(const asr_dynamics_view &tables);  // must outlive this

  void push(const float *cepstra, size_t n);  // [n][n_ceps]
  void finish();

  uint32_t n_dims() const { return tables_.n_dims; }
  size_t ready_rows() const { return (rows_.size() - consumed_) / n_dims(); }
  const float *rows() const { return rows_.data() + consumed_; }  // [ready_rows()][n_dims]
  void consume(size_t n);

 private:
  // A tap as it is evaluated: value `index` of row number `row` of those around a frame.
  struct Tap {
    uint32_t row, index;
    double weight;
  };
  void emit_ready(bool at_end);
  void push_levels(bool at_end);
  void make_values(int64_t t);
  void append_row();

  const asr_dynamics_view &tables_;
  const int64_t lookback_, n_around_, radius_;  // frames that a row looks at; of the slope
  std::vector<Tap> taps_;
  std::vector<RowHistory> levels_;
  int64_t next_ = 0;                   // row to be emitted next
  std::vector<const float *> around_;  // [n_levels][n_around_]
  std::vector<float> values_;          // of a row before the transform
  std::vector<float> rows_;
  size_t consumed_ = 0;
};

}  // namespace asr
