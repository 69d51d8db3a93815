// SPDX-License-Identifier: Apache-2.0
#include "core/feature/dynamic_tables.h"

#include <algorithm>

namespace asr {
namespace {

using Taps = std::vector<asr_dynamic_tap>;

// Returns taps -window ... window of the regression slope k / sum k^2.
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

// Returns a filter on one column, with its middle tap at the row's own frame.
Taps filter_of(uint32_t column, const std::vector<float> &kernel) {
  const auto radius = static_cast<int32_t>(kernel.size() / 2);
  Taps taps;
  for (size_t k = 0; k < kernel.size(); ++k) {
    if (kernel[k] != 0) taps.push_back({static_cast<int32_t>(k) - radius, column, kernel[k]});
  }
  return taps;
}

}  // namespace

DynamicTables::DynamicTables(const FrontEnd &f, const float *noise_dct) : transform_(f.transform) {
  prior_mean_ = f.cmn_prior;
  prior_mean_.resize(f.n_ceps, 0.0f);
  switch (f.dynamic) {
    case DynamicKind::kRegressionSquared:
    case DynamicKind::kRegressionRepeated:
      add_regression(f);
      break;
    case DynamicKind::kSplice:
      for (int32_t k = -static_cast<int32_t>(f.splice_left); k <= static_cast<int32_t>(f.splice_right); ++k) {
        for (uint32_t i = 0; i < f.n_ceps; ++i) add_value({{k, i, 1}});
      }
      break;
    default:
      add_sphinx(f);
  }
  const bool repeated = f.dynamic == DynamicKind::kRegressionRepeated && f.delta_order > 0;
  if (repeated) slope_ = slope_kernel(f.delta_window);
  view_.size = sizeof view_;
  view_.n_ceps = f.n_ceps;
  view_.noise_dct = noise_dct;
  view_.prior_mean = prior_mean_.data();
  view_.prior_frames = f.cmn_prior_frames, view_.window_frames = f.cmn_window_frames;
  view_.counted_cepstrum = !f.cmn_skip_negative_c0 ? -1 : f.c0_last ? static_cast<int32_t>(f.n_ceps) - 1 : 0;
  view_.n_levels = repeated ? f.delta_order + 1 : 1;
  view_.n_slope = static_cast<uint32_t>(slope_.size()), view_.slope = slope_.data();
  view_.n_values = static_cast<uint32_t>(tap_begin_.size() - 1);
  view_.tap_begin = tap_begin_.data(), view_.taps = taps_.data();
  const auto radius = static_cast<int32_t>(slope_.size() / 2);
  int32_t lookahead = 0;
  for (const asr_dynamic_tap &tap : taps_) {
    lookahead = std::max(lookahead, tap.offset + static_cast<int32_t>(tap.column / f.n_ceps) * radius);
  }
  view_.lookahead = static_cast<uint32_t>(lookahead);
  view_.n_dims = f.n_dims();
  view_.transform_cols = f.transform_cols;
  view_.transform = transform_.empty() ? nullptr : transform_.data();
  view_.whole_variance = f.cmn_variance;
}

void DynamicTables::add_value(const Taps &taps) {
  taps_.insert(taps_.end(), taps.begin(), taps.end());
  tap_begin_.push_back(static_cast<uint32_t>(taps_.size()));
}

// Adds plain differences; the parts are named as in DynamicKind.
void DynamicTables::add_sphinx(const FrontEnd &f) {
  const auto c = [](uint32_t i) { return Taps{{0, i, 1}}; };
  const auto d = [](uint32_t i) { return Taps{{2, i, 1}, {-2, i, -1}}; };
  const auto ld = [](uint32_t i) { return Taps{{4, i, 1}, {-4, i, -1}}; };
  const auto dd = [](uint32_t i) { return Taps{{3, i, 1}, {-1, i, -1}, {1, i, -1}, {-3, i, 1}}; };
  const auto put = [&](auto &&part, uint32_t first) {
    for (uint32_t i = first; i < f.n_ceps; ++i) add_value(part(i));
  };
  const auto power = [&] { add_value(c(0)), add_value(d(0)), add_value(dd(0)); };
  switch (f.dynamic) {
    case DynamicKind::kSphinx_c_d:
      put(c, 0), put(d, 0);
      break;
    case DynamicKind::kSphinx_c_d_dd:
      put(c, 0), put(d, 0), put(dd, 0);
      break;
    case DynamicKind::kSphinx_c_d_ld_dd:
      put(c, 0), put(d, 0), put(ld, 0), put(dd, 0);
      break;
    case DynamicKind::kSphinx_s2_4x:
      put(c, 1), put(d, 1), put(ld, 1), power(), put(dd, 1);
      break;
    case DynamicKind::kSphinx_s3_1x39:
      put(c, 1), put(d, 1), power(), put(dd, 1);
      break;
    default:
      put(c, 0);
  }
}

// Adds regression deltas. Squared: order n is one filter on the cepstra. Repeated: order n is level n.
void DynamicTables::add_regression(const FrontEnd &f) {
  const std::vector<float> slope = slope_kernel(f.delta_window);
  std::vector<float> kernel = {1};
  const uint32_t dropped = f.c0_last ? f.n_ceps - 1 : 0;
  for (uint32_t order = 0; order <= f.delta_order; ++order) {
    for (uint32_t i = 0; i < f.n_ceps; ++i) {
      if (order == 0 && f.drop_absolute_energy && i == dropped) continue;
      if (f.dynamic == DynamicKind::kRegressionRepeated) {
        add_value({{0, order * f.n_ceps + i, 1}});
      } else {
        add_value(filter_of(i, kernel));
      }
    }
    kernel = convolve(kernel, slope);
  }
}

uint32_t lookback(const asr_dynamics_view &view) {
  int32_t frames = 0;
  for (uint32_t i = 0; i < view.tap_begin[view.n_values]; ++i) frames = std::max(frames, -view.taps[i].offset);
  return static_cast<uint32_t>(frames);
}

}  // namespace asr
