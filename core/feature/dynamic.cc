// SPDX-License-Identifier: Apache-2.0
#include "core/feature/dynamic.h"

#include <algorithm>
#include <cassert>

#include "core/feature/dynamic_tables.h"

namespace asr {
namespace {

constexpr int64_t kSlackRows = 256;  // dropped rows are erased at least this many at a time

}  // namespace

void RowHistory::push(const float *row) { rows_.insert(rows_.end(), row, row + n_columns_); }

const float *RowHistory::row(int64_t number) const {
  const int64_t nearest = std::clamp<int64_t>(number, 0, size() - 1);
  assert(nearest >= begin_);
  return rows_.data() + (nearest - begin_) * n_columns_;
}

void RowHistory::drop_before(int64_t number) {
  const int64_t n = std::min(number, size() - 1) - begin_;
  if (n < kSlackRows) return;
  rows_.erase(rows_.begin(), rows_.begin() + n * n_columns_);
  begin_ += n;
}

DynamicFeatures::DynamicFeatures(const asr_dynamics_view &tables)
    : tables_(tables),
      lookback_(lookback(tables)),
      n_around_(lookback_ + 1 + tables.lookahead),
      radius_(tables.n_slope / 2),
      levels_(tables.n_levels, RowHistory(tables.n_ceps)),
      around_(tables.n_levels * static_cast<size_t>(n_around_)),
      values_(tables.n_values) {
  for (uint32_t i = 0; i < tables.tap_begin[tables.n_values]; ++i) {
    const asr_dynamic_tap &tap = tables.taps[i];
    const int64_t row = tap.column / tables.n_ceps * n_around_ + lookback_ + tap.offset;
    taps_.push_back({static_cast<uint32_t>(row), tap.column % tables.n_ceps, static_cast<double>(tap.weight)});
  }
}

void DynamicFeatures::push(const float *cepstra, size_t n) {
  for (size_t t = 0; t < n; ++t) levels_[0].push(cepstra + t * tables_.n_ceps);
  emit_ready(false);
}

void DynamicFeatures::finish() { emit_ready(true); }

void DynamicFeatures::consume(size_t n) {
  consumed_ += n * n_dims();
  if (consumed_ == rows_.size()) {
    rows_.clear();
    consumed_ = 0;
  }
}

void DynamicFeatures::emit_ready(bool at_end) {
  rows_.erase(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(consumed_));
  consumed_ = 0;
  push_levels(at_end);
  const int64_t end = levels_[0].size() - (at_end ? 0 : int64_t{tables_.lookahead});
  for (; next_ < end; ++next_) {
    make_values(next_);
    append_row();
  }
  for (size_t k = 0; k < levels_.size(); ++k) {
    const int64_t filtered = k + 1 < levels_.size() ? levels_[k + 1].size() - radius_ : next_;
    levels_[k].drop_before(std::min(filtered, next_ - lookback_));
  }
}

void DynamicFeatures::push_levels(bool at_end) {
  std::vector<double> sums(tables_.n_ceps);
  std::vector<float> filtered(tables_.n_ceps);
  for (size_t k = 1; k < levels_.size(); ++k) {
    const RowHistory &below = levels_[k - 1];
    const int64_t end = below.size() - (at_end ? 0 : radius_);
    for (int64_t t = levels_[k].size(); t < end; ++t) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (uint32_t j = 0; j < tables_.n_slope; ++j) {
        const float *row = below.row(t + j - radius_);
        for (uint32_t i = 0; i < tables_.n_ceps; ++i) sums[i] += double{tables_.slope[j]} * static_cast<double>(row[i]);
      }
      std::transform(sums.begin(), sums.end(), filtered.begin(), [](double sum) { return static_cast<float>(sum); });
      levels_[k].push(filtered.data());
    }
  }
}

void DynamicFeatures::make_values(int64_t t) {
  auto row = around_.begin();
  for (const RowHistory &level : levels_) {
    for (int64_t k = 0; k < n_around_; ++k) *row++ = level.row(t - lookback_ + k);
  }
  for (uint32_t i = 0; i < tables_.n_values; ++i) {
    double sum = 0;
    for (uint32_t tap = tables_.tap_begin[i]; tap < tables_.tap_begin[i + 1]; ++tap) {
      sum += taps_[tap].weight * static_cast<double>(around_[taps_[tap].row][taps_[tap].index]);
    }
    values_[i] = static_cast<float>(sum);
  }
}

void DynamicFeatures::append_row() {
  if (tables_.transform == nullptr) {
    rows_.insert(rows_.end(), values_.begin(), values_.end());
    return;
  }
  for (uint32_t i = 0; i < n_dims(); ++i) {
    const float *weights = tables_.transform + size_t{i} * tables_.transform_cols;
    double sum = tables_.transform_cols > tables_.n_values ? weights[tables_.n_values] : 0;  // the offset
    for (uint32_t j = 0; j < tables_.n_values; ++j) sum += static_cast<double>(weights[j]) * values_[j];
    rows_.push_back(static_cast<float>(sum));
  }
}

}  // namespace asr
