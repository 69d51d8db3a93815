// SPDX-License-Identifier: Apache-2.0
#include "core/decode/tonality.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace asr {
namespace {

constexpr double kStep_s = 0.02, kLag_s = 0.06;
constexpr double kLeastWindow_s = 0.05;  // so long that the harmonics of a voice are lines of their own
constexpr double kLowest_hz = 300, kHighest_hz = 3000;
constexpr size_t kReach = 6;  // bins on each side that a bin is compared with
constexpr double kLeast_db = -10, kMost_db = 15;
constexpr size_t kMemory = 25;                 // values that are averaged
constexpr double kMusic = 0.65, kVoice = 0.5;  // means above and below which it is music, or not

size_t frames_of(double seconds, double shift_s) { return std::max<size_t>(1, std::lround(seconds / shift_s)); }

size_t window_of(double sample_rate_hz) {
  size_t n = 64;
  while (static_cast<double>(n) < kLeastWindow_s * sample_rate_hz) n *= 2;
  return n;
}

double correlation(const std::vector<double> &x, const std::vector<double> &y) {
  const auto product = [](const std::vector<double> &a, const std::vector<double> &b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const double scale = std::sqrt(product(x, x) * product(y, y));
  return scale > 0 ? product(x, y) / scale : 0;
}

}  // namespace

Tonality::Tonality(double sample_rate_hz, uint32_t shift_samples)
    : shift_samples_(shift_samples),
      step_(frames_of(kStep_s, shift_samples / sample_rate_hz)),
      lag_(std::max<size_t>(1, frames_of(kLag_s, shift_samples / sample_rate_hz) / step_)),
      n_(window_of(sample_rate_hz)),
      first_bin_(std::max<size_t>(kReach, std::lround(kLowest_hz * static_cast<double>(n_) / sample_rate_hz))),
      n_bins_(std::min<size_t>(std::lround(kHighest_hz * static_cast<double>(n_) / sample_rate_hz), n_ / 2 - kReach) -
              first_bin_),
      recent_(n_) {
  for (size_t i = 0; i < n_; ++i)
    window_.push_back(0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(i) / static_cast<double>(n_)));
  for (size_t i = 0; i < n_ / 2; ++i)
    roots_.push_back(std::polar(1.0, -2 * M_PI * static_cast<double>(i) / static_cast<double>(n_)));
}

void Tonality::add_frame(const float *samples, bool is_loud) {
  const size_t n_new = std::min<size_t>(shift_samples_, n_);
  std::copy(recent_.begin() + static_cast<ptrdiff_t>(n_new), recent_.end(), recent_.begin());
  std::copy(samples + (shift_samples_ - n_new), samples + shift_samples_, recent_.end() - static_cast<ptrdiff_t>(n_new));
  if (n_frames_++ % step_ != 0) return;
  spectra_.push_back(is_loud ? fine_structure() : Spectrum());
  if (spectra_.size() <= lag_) return;
  if (!spectra_.front().empty() && is_loud) decide(correlation(spectra_.front(), spectra_.back()));
  spectra_.pop_front();
}

// By how many decibels each bin is above the mean of its neighbours.
Tonality::Spectrum Tonality::fine_structure() {
  transform();
  std::vector<double> level(n_bins_ + 2 * kReach);
  for (size_t k = 0; k < level.size(); ++k) {
    level[k] = 10 * std::log10(std::norm(work_[first_bin_ - kReach + k]) + static_cast<double>(n_));
  }
  Spectrum fine(n_bins_);
  double sum = std::accumulate(level.begin(), level.begin() + 2 * kReach, 0.0);
  for (size_t k = 0; k < n_bins_; ++k) {
    sum += level[k + 2 * kReach];
    fine[k] = std::clamp(level[k + kReach] - sum / (2 * kReach + 1), kLeast_db, kMost_db);
    sum -= level[k];
  }
  const double mean = std::accumulate(fine.begin(), fine.end(), 0.0) / static_cast<double>(n_bins_);
  for (double &value : fine) value -= mean;
  return fine;
}

// The discrete Fourier transform of the last samples, by decimation in time.
void Tonality::transform() {
  work_.resize(n_);
  for (size_t i = 0, reversed = 0; i < n_; ++i) {
    work_[reversed] = window_[i] * static_cast<double>(recent_[i]);
    size_t bit = n_ / 2;
    for (; bit > 0 && (reversed & bit) != 0; bit /= 2) reversed ^= bit;
    reversed |= bit;
  }
  for (size_t half = 1; half < n_; half *= 2) {
    for (size_t begin = 0; begin < n_; begin += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        const std::complex<double> root = roots_[k * (n_ / 2 / half)], odd = work_[begin + half + k];
        const std::complex<double> turned(root.real() * odd.real() - root.imag() * odd.imag(),
                                          root.real() * odd.imag() + root.imag() * odd.real());
        work_[begin + half + k] = work_[begin + k] - turned;
        work_[begin + k] += turned;
      }
    }
  }
}

void Tonality::decide(double steadiness) {
  steadiness_.push_back(steadiness);
  if (steadiness_.size() > kMemory) steadiness_.pop_front();
  if (steadiness_.size() < kMemory) return;
  const double mean = std::accumulate(steadiness_.begin(), steadiness_.end(), 0.0) / kMemory;
  is_music_ = mean > (is_music_ ? kVoice : kMusic);
}

}  // namespace asr
