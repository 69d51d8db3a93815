// SPDX-License-Identifier: Apache-2.0
// ResampleFilter is the low-pass filter between two sample rates. Its table has a row for each phase of an output sample
// between two input samples. It is immutable, and all streams of an engine with the same rates share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace asr {

// Passes frequencies below 0.91 of the lower rate's Nyquist frequency and attenuates frequencies above Nyquist by 120 dB.
class ResampleFilter {
 public:
  // Rounds the rates to 1/1024 Hz.
  ResampleFilter(double in_hz, double out_hz);

  bool is_for(double in_hz, double out_hz) const;

  // in() input samples last as long as out() output samples; the two have no common divisor.
  uint64_t in() const { return in_; }
  uint64_t out() const { return out_; }
  size_t n_taps() const { return n_taps_; }  // even

  // Returns the filtered value at a time `phase` / out() after window[n_taps() / 2 - 1], from the input samples
  // window[n_taps()].
  float apply(const float *window, uint64_t phase) const;

 private:
  uint64_t in_, out_;
  size_t n_taps_ = 0;
  uint64_t n_rows_ = 0;       // out_, or fewer rows that apply() interpolates
  std::vector<float> table_;  // [n_rows_ + 1][n_taps_]: row r has phase r * out_ / n_rows_
};

// ResampleFilters finds the filters of open streams, so that streams of the same rates share one. It keeps a few itself, those
// asked for last: streams come and go, and a filter takes up to a megabyte and some milliseconds.
class ResampleFilters {
 public:
  static constexpr size_t kMaxKept = 4;

  std::shared_ptr<const ResampleFilter> get(double in_hz, double out_hz);  // nullptr if the rates are equal

 private:
  std::shared_ptr<const ResampleFilter> find(double in_hz, double out_hz) const;

  std::mutex mutex_;
  std::vector<std::weak_ptr<const ResampleFilter>> filters_;  // all that exist, and some that no longer do
  std::vector<std::shared_ptr<const ResampleFilter>> kept_;   // the one asked for last is the last one
};

}  // namespace asr
