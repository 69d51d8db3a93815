// SPDX-License-Identifier: Apache-2.0
#include "core/feature/dynamic.h"

#include <algorithm>
#include <cassert>

namespace asr {
namespace {

constexpr int64_t kSlackRows = 256;  // dropped rows are moved out in steps of at least this

struct Context {
  uint32_t left, right;
};

// How many neighbours a row needs at most.
Context context_of(const FrontEnd &f) {
  switch (f.dynamic) {
    case DynamicKind::kNone:
      return {0, 0};
    case DynamicKind::kSphinx_c_d:
      return {2, 2};
    case DynamicKind::kSphinx_c_d_dd:
    case DynamicKind::kSphinx_s3_1x39:
      return {3, 3};
    case DynamicKind::kSphinx_c_d_ld_dd:
    case DynamicKind::kSphinx_s2_4x:
      return {4, 4};
    case DynamicKind::kRegressionSquared:
      return {f.delta_order * f.delta_window, f.delta_order * f.delta_window};
    case DynamicKind::kRegressionRepeated:
      return {f.delta_window, f.delta_window};  // of the order below
    case DynamicKind::kSplice:
      return {f.splice_left, f.splice_right};
  }
  return {0, 0};
}

// Taps -window ... window of the regression slope k / sum k^2.
std::vector<float> slope_kernel(uint32_t window) {
  double norm = 0;
  for (uint32_t k = 1; k <= window; ++k) norm += 2.0 * k * k;
  std::vector<float> taps;
  for (int k = -static_cast<int>(window); k <= static_cast<int>(window); ++k) taps.push_back(static_cast<float>(k / norm));
  return taps;
}

std::vector<float> convolve(const std::vector<float> &a, const std::vector<float> &b) {
  std::vector<double> sum(a.size() + b.size() - 1, 0.0);
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) sum[i + j] += static_cast<double>(a[i]) * b[j];
  }
  return {sum.begin(), sum.end()};
}

// out[i] = sum over taps k of taps[k] * column i of row t + k - radius.
void filter(const RowHistory &history, int64_t t, const std::vector<float> &taps, uint32_t n, float *out) {
  const auto radius = static_cast<int64_t>(taps.size() / 2);
  std::fill(out, out + n, 0.0f);
  for (size_t k = 0; k < taps.size(); ++k) {
    if (taps[k] == 0) continue;
    const float *row = history.row(t + static_cast<int64_t>(k) - radius);
    for (uint32_t i = 0; i < n; ++i) out[i] += taps[k] * row[i];
  }
}

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

DynamicFeatures::DynamicFeatures(const FrontEnd &f)
    : kind_(f.dynamic),
      n_ceps_(f.n_ceps),
      n_dims_(f.n_dims()),
      order_(f.delta_order),
      left_(context_of(f).left),
      right_(context_of(f).right),
      drop_energy_(f.drop_absolute_energy),
      energy_last_(f.c0_last),
      transform_(f.transform),
      transform_cols_(f.transform_cols) {
  FrontEnd plain = f;
  plain.transform.clear();
  inner_row_.resize(plain.n_dims());
  const std::vector<float> slope = slope_kernel(f.delta_window);
  kernels_.push_back({1.0f});
  for (uint32_t k = 1; k <= order_; ++k) kernels_.push_back(convolve(kernels_.back(), slope));
  const uint32_t n_levels = kind_ == DynamicKind::kRegressionRepeated ? order_ + 1 : 1;
  levels_.assign(n_levels, RowHistory(n_ceps_));
}

void DynamicFeatures::push(const float *cepstra, size_t n) {
  for (size_t t = 0; t < n; ++t) levels_[0].push(cepstra + t * n_ceps_);
  emit_ready(false);
}

void DynamicFeatures::finish() { emit_ready(true); }

void DynamicFeatures::consume(size_t n) {
  consumed_ += n * n_dims_;
  if (consumed_ == rows_.size()) {
    rows_.clear();
    consumed_ = 0;
  }
}

void DynamicFeatures::emit_ready(bool at_end) {
  rows_.erase(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(consumed_));
  consumed_ = 0;
  if (kind_ == DynamicKind::kRegressionRepeated) push_repeated_deltas(at_end);
  // A row of repeated deltas is complete when its highest order is.
  const int64_t n = levels_.back().size();
  const int64_t end = at_end || levels_.size() > 1 ? n : n - right_;
  for (; next_ < end; ++next_) {
    make_row(next_, inner_row_.data());
    append_transformed(inner_row_.data());
  }
  for (RowHistory &level : levels_) level.drop_before(next_ - left_);
}

void DynamicFeatures::push_repeated_deltas(bool at_end) {
  const std::vector<float> &slope = kernels_.size() > 1 ? kernels_[1] : kernels_[0];
  std::vector<float> delta(n_ceps_);
  for (size_t k = 1; k < levels_.size(); ++k) {
    const int64_t end = at_end ? levels_[k - 1].size() : levels_[k - 1].size() - right_;
    for (int64_t t = levels_[k].size(); t < end; ++t) {
      filter(levels_[k - 1], t, slope, n_ceps_, delta.data());
      levels_[k].push(delta.data());
    }
  }
}

void DynamicFeatures::make_row(int64_t t, float *row) const {
  switch (kind_) {
    case DynamicKind::kRegressionSquared:
    case DynamicKind::kRegressionRepeated:
      make_regression(t, row);
      break;
    case DynamicKind::kSplice:
      for (int64_t k = t - left_; k <= t + int64_t{right_}; ++k) row = std::copy_n(levels_[0].row(k), n_ceps_, row);
      break;
    default:
      make_sphinx(t, row);
  }
}

// Plain differences; names of the parts as in DynamicKind.
void DynamicFeatures::make_sphinx(int64_t t, float *row) const {
  const auto c = [&](int64_t k, uint32_t i) { return levels_[0].row(t + k)[i]; };
  const auto d = [&](uint32_t i) { return c(2, i) - c(-2, i); };
  const auto ld = [&](uint32_t i) { return c(4, i) - c(-4, i); };
  const auto dd = [&](uint32_t i) { return (c(3, i) - c(-1, i)) - (c(1, i) - c(-3, i)); };
  const auto put = [&](auto &&part, uint32_t first) {
    for (uint32_t i = first; i < n_ceps_; ++i) *row++ = part(i);
  };
  const auto statics = [&](uint32_t i) { return c(0, i); };
  const auto power = [&] {
    *row++ = c(0, 0);
    *row++ = d(0);
    *row++ = dd(0);
  };
  switch (kind_) {
    case DynamicKind::kSphinx_c_d:
      put(statics, 0), put(d, 0);
      break;
    case DynamicKind::kSphinx_c_d_dd:
      put(statics, 0), put(d, 0), put(dd, 0);
      break;
    case DynamicKind::kSphinx_c_d_ld_dd:
      put(statics, 0), put(d, 0), put(ld, 0), put(dd, 0);
      break;
    case DynamicKind::kSphinx_s2_4x:
      put(statics, 1), put(d, 1), put(ld, 1), power(), put(dd, 1);
      break;
    case DynamicKind::kSphinx_s3_1x39:
      put(statics, 1), put(d, 1), power(), put(dd, 1);
      break;
    default:
      put(statics, 0);
  }
}

void DynamicFeatures::make_regression(int64_t t, float *row) const {
  const float *statics = levels_[0].row(t);
  if (!drop_energy_) {
    row = std::copy_n(statics, n_ceps_, row);
  } else {
    row = std::copy_n(energy_last_ ? statics : statics + 1, n_ceps_ - 1, row);
  }
  for (uint32_t k = 1; k <= order_; ++k, row += n_ceps_) {
    if (kind_ == DynamicKind::kRegressionSquared) {
      filter(levels_[0], t, kernels_[k], n_ceps_, row);
    } else {
      std::copy_n(levels_[k].row(t), n_ceps_, row);
    }
  }
}

void DynamicFeatures::append_transformed(const float *row) {
  if (transform_.empty()) {
    rows_.insert(rows_.end(), row, row + n_dims_);
    return;
  }
  const auto n = static_cast<uint32_t>(inner_row_.size());
  for (uint32_t i = 0; i < n_dims_; ++i) {
    const float *weights = &transform_[size_t{i} * transform_cols_];
    double sum = transform_cols_ > n ? weights[n] : 0;  // the offset
    for (uint32_t j = 0; j < n; ++j) sum += static_cast<double>(weights[j]) * row[j];
    rows_.push_back(static_cast<float>(sum));
  }
}

}  // namespace asr
