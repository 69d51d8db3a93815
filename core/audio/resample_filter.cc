// SPDX-License-Identifier: Apache-2.0
// ResampleFilter implements equation F0 in docs/equations.md.
#include "core/audio/resample_filter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace asr {
namespace {

constexpr double kStopband_dB = 120;
constexpr double kPassband = 0.91;     // fraction of the lower Nyquist frequency; the stopband begins at 1
constexpr double kRowsPerZero = 1024;  // table rows between two zeros of the sinc; the interpolation error is -120 dB
constexpr size_t kLanes = 8;           // parallel partial sums of a dot product

uint64_t units(double hz) { return static_cast<uint64_t>(std::llround(hz * 1024)); }

// Modified Bessel function of order 0, evaluated by its power series.
double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; term > 1e-12 * sum; ++k) {
    term *= x * x / (4.0 * k * k);
    sum += term;
  }
  return sum;
}

// Adds in a fixed order, so that the result is the same on every machine.
float dot(const float *a, const float *b, size_t n) {
  float sums[kLanes] = {};
  for (size_t i = 0; i < n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

}  // namespace

ResampleFilter::ResampleFilter(double in_hz, double out_hz) : in_(units(in_hz)), out_(units(out_hz)) {
  const uint64_t divisor = std::gcd(in_, out_);
  in_ /= divisor;
  out_ /= divisor;
  // Stretch of the sinc, in samples.
  const double stretch = std::max(1.0, static_cast<double>(in_) / static_cast<double>(out_));
  const double cutoff = (1 + kPassband) / 2 / stretch;
  const double beta = 0.1102 * (kStopband_dB - 8.7);
  const double half_width = (kStopband_dB - 7.95) / (2.285 * M_PI * (1 - kPassband)) / 2 * stretch;
  n_taps_ = (static_cast<size_t>(2 * std::ceil(half_width)) + kLanes - 1) / kLanes * kLanes;
  n_rows_ = std::min(out_, static_cast<uint64_t>(std::ceil(kRowsPerZero / stretch)));
  table_.resize((n_rows_ + 1) * n_taps_);
  const double window_at_0 = bessel_i0(beta);
  float *value = table_.data();
  for (uint64_t row = 0; row <= n_rows_; ++row) {
    const double middle = static_cast<double>(n_taps_) / 2 - 1 + static_cast<double>(row) / static_cast<double>(n_rows_);
    for (size_t tap = 0; tap < n_taps_; ++tap, ++value) {
      const double t = static_cast<double>(tap) - middle, u = t / half_width, x = M_PI * cutoff * t;
      if (std::abs(u) >= 1) continue;
      const double sinc = x == 0 ? 1 : std::sin(x) / x;
      *value = static_cast<float>(cutoff * sinc * bessel_i0(beta * std::sqrt(1 - u * u)) / window_at_0);
    }
  }
}

bool ResampleFilter::is_for(double in_hz, double out_hz) const { return units(in_hz) * out_ == units(out_hz) * in_; }

float ResampleFilter::apply(const float *window, uint64_t phase) const {
  const uint64_t row = phase * n_rows_ / out_, rest = phase * n_rows_ % out_;
  const float *taps = table_.data() + row * n_taps_;
  const float here = dot(window, taps, n_taps_);
  if (rest == 0) return here;
  const float share = static_cast<float>(rest) / static_cast<float>(out_);
  return here + share * (dot(window, taps + n_taps_, n_taps_) - here);
}

std::shared_ptr<const ResampleFilter> ResampleFilters::find(double in_hz, double out_hz) const {
  for (const auto &weak : filters_) {
    if (auto filter = weak.lock(); filter && filter->is_for(in_hz, out_hz)) return filter;
  }
  return nullptr;
}

std::shared_ptr<const ResampleFilter> ResampleFilters::get(double in_hz, double out_hz) {
  if (in_hz == out_hz) return nullptr;
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const ResampleFilter> filter = find(in_hz, out_hz);
  if (!filter) {
    filters_.erase(std::remove_if(filters_.begin(), filters_.end(), [](const auto &weak) { return weak.expired(); }),
                   filters_.end());
    filter = std::make_shared<const ResampleFilter>(in_hz, out_hz);
    filters_.push_back(filter);
  }
  kept_.erase(std::remove(kept_.begin(), kept_.end(), filter), kept_.end());
  if (kept_.size() == kMaxKept) kept_.erase(kept_.begin());
  kept_.push_back(filter);
  return filter;
}

}  // namespace asr
