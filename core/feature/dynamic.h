// SPDX-License-Identifier: Apache-2.0
// Dynamic features, splicing and the linear transform: from normalised cepstra to the rows that are scored, one row for
// each frame, as soon as the frames to its right are known (F10 of docs/equations.md). Used by FeaturePipeline. At both ends of
// the signal the edge frame stands in for the missing ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/feature/front_end.h"

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
  explicit DynamicFeatures(const FrontEnd &front_end);

  void push(const float *cepstra, size_t n);  // [n][n_ceps]
  void finish();

  uint32_t n_dims() const { return n_dims_; }
  size_t ready_rows() const { return (rows_.size() - consumed_) / n_dims_; }
  const float *rows() const { return rows_.data() + consumed_; }  // [ready_rows()][n_dims]
  void consume(size_t n);

 private:
  void emit_ready(bool at_end);
  void make_row(int64_t t, float *row) const;
  void make_sphinx(int64_t t, float *row) const;
  void make_regression(int64_t t, float *row) const;
  void push_repeated_deltas(bool at_end);
  void append_transformed(const float *row);

  DynamicKind kind_;
  uint32_t n_ceps_, n_dims_;
  uint32_t order_, left_, right_;
  bool drop_energy_, energy_last_;
  std::vector<float> transform_;
  uint32_t transform_cols_;
  std::vector<std::vector<float>> kernels_;  // kRegressionSquared: taps of each order
  std::vector<RowHistory> levels_;           // statics, then for kRegressionRepeated the deltas of each order
  int64_t next_ = 0;                         // row to be emitted next
  std::vector<float> inner_row_;             // a row before the transform
  std::vector<float> rows_;
  size_t consumed_ = 0;
};

}  // namespace asr
