// SPDX-License-Identifier: Apache-2.0
// The low-pass filter between two sample rates, as a table for each place that an output sample can have between two input
// samples. It does not change, and all streams of an engine with the same rates share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace asr {

// Passes what lies below 0.91 of the lower rate's Nyquist frequency, and lessens by 120 dB what lies above that frequency.
class ResampleFilter {
 public:
  // Rates are taken to 1/1024 Hz.
  ResampleFilter(double in_hz, double out_hz);

  bool is_for(double in_hz, double out_hz) const;

  // in() input samples take as long as out() output samples; the two have no common divisor.
  uint64_t in() const { return in_; }
  uint64_t out() const { return out_; }
  size_t n_taps() const { return n_taps_; }  // even

  // The sum over window[n_taps()], the input samples around a time `phase` / out() after window[n_taps() / 2 - 1].
  float apply(const float *window, uint64_t phase) const;

 private:
  uint64_t in_, out_;
  size_t n_taps_ = 0;
  uint64_t n_rows_ = 0;       // out_, or fewer, between which apply() interpolates
  std::vector<float> table_;  // [n_rows_ + 1][n_taps_]: row r is for phase r * out_ / n_rows_
};

// The filters that streams have now, and those that the streams before them had.
class ResampleFilters {
 public:
  std::shared_ptr<const ResampleFilter> get(double in_hz, double out_hz);  // nullptr if the rates are equal

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const ResampleFilter>> filters_;
};

}  // namespace asr
