// SPDX-License-Identifier: Apache-2.0
// DynamicFeatures computes dynamic features, splicing and the linear transform (F10 of docs/equations.md). It turns normalised
// cepstra into the rows that are scored, one per frame, as soon as the frames to its right are known. FeaturePipeline uses it.
// It evaluates the tables of an asr_dynamics_view, in the same order as the back ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend_signals.h"

namespace asr {

// RowHistory keeps the last rows of a sequence, addressed by row number. Numbers outside the kept range give the nearest row.
class RowHistory {
 public:
  explicit RowHistory(uint32_t n_columns) : n_columns_(n_columns) {}
  void push(const float *row);
  const float *row(int64_t number) const;
  int64_t size() const { return begin_ + static_cast<int64_t>(rows_.size() / n_columns_); }  // rows pushed so far
  void drop_before(int64_t number);

 private:
  uint32_t n_columns_;
  int64_t begin_ = 0;  // number of rows_[0]; row 0 of the sequence is not requested after it was dropped
  std::vector<float> rows_;
};

class DynamicFeatures {
 public:
  explicit DynamicFeatures(const asr_dynamics_view &tables);  // tables must outlive this

  void push(const float *cepstra, size_t n);  // [n][n_ceps]
  void finish();

  uint32_t n_dims() const { return tables_.n_dims; }
  size_t ready_rows() const { return (rows_.size() - consumed_) / n_dims(); }
  const float *rows() const { return rows_.data() + consumed_; }  // [ready_rows()][n_dims]
  void consume(size_t n);

 private:
  // A tap prepared for evaluation: value `index` of row number `row` around a frame.
  struct Tap {
    uint32_t row, index;
    double weight;
  };
  void emit_ready(bool at_end);
  void push_levels(bool at_end);
  void make_values(int64_t t);
  void append_row();

  const asr_dynamics_view &tables_;
  const int64_t lookback_, n_around_, radius_;  // frames that a row depends on; radius_: of the slope
  std::vector<Tap> taps_;
  std::vector<RowHistory> levels_;
  int64_t next_ = 0;                   // number of the next row to emit
  std::vector<const float *> around_;  // [n_levels][n_around_]
  std::vector<float> values_;          // a row's values before the transform
  std::vector<float> rows_;
  size_t consumed_ = 0;
};

}  // namespace asr
