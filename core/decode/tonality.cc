// SPDX-License-Identifier: Apache-2.0
#include "core/decode/tonality.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace asr {
namespace {

constexpr double kStep_s = 0.02, kLag_s = 0.06;
constexpr double kMinWindow_s = 0.05;  // window length that resolves the harmonics of a voice
constexpr double kLowest_hz = 300, kHighest_hz = 3000;
constexpr size_t kReach = 6;  // neighbouring bins on each side to compare a bin with
constexpr double kLeast_db = -10, kMost_db = 15;
constexpr size_t kMusicMemory = 25, kVoiceMemory = 15, kNoiseMemory = 50;  // spectra
constexpr double kMusic = 0.65, kVoice = 0.45;       // mean steadiness above and below which music begins and ends
constexpr double kPeak_db = 13, kPeriodicity = 0.4;  // values above indicate lines: a single one, or many at equal distances
constexpr size_t kMinPeriod = 5, kMaxPeriod = 24;    // in bins: the pitch of a voice
constexpr double kMinLines = 0.08;                   // fraction of spectra with lines; less is noise
// Values above which the prominence of a spectrum's bins is evidence of a voice, and the weight of a single peak. The
// periodicity of few bins varies more by chance.
constexpr double kVoicePeriodicity = 0.25, kManyBins = 80, kVoicePeak_db = 14, kPeakWeight = 0.05;

size_t frames_of(double seconds, double shift_s) { return std::max<size_t>(1, std::lround(seconds / shift_s)); }

size_t window_of(double sample_rate_hz) {
  size_t n = 64;
  while (static_cast<double>(n) < kMinWindow_s * sample_rate_hz) n *= 2;
  return n;
}

double correlation(const std::vector<double> &x, const std::vector<double> &y) {
  const auto product = [](const std::vector<double> &a, const std::vector<double> &b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const double scale = std::sqrt(product(x, x) * product(y, y));
  return scale > 0 ? product(x, y) / scale : 0;
}

double mean_of_last(const std::deque<double> &values, size_t n) {
  return std::accumulate(values.end() - static_cast<ptrdiff_t>(n), values.end(), 0.0) / static_cast<double>(n);
}

// Returns the highest autocorrelation of a spectrum over the possible distances of harmonics.
double periodicity(const std::vector<double> &fine) {
  const auto product = [&](size_t shift) {
    return std::inner_product(fine.begin() + static_cast<ptrdiff_t>(shift), fine.end(), fine.begin(), 0.0);
  };
  double highest = 0;
  for (size_t shift = kMinPeriod; shift <= std::min(kMaxPeriod, fine.size()); ++shift) {
    highest = std::max(highest, product(shift));
  }
  const double scale = product(0);
  return scale > 0 ? highest / scale : 0;
}

// Returns how many of the values make up their variance.
double effective_number(const std::vector<double> &values) {
  double squares = 0, fourth_powers = 0;
  for (const double value : values) {
    squares += value * value;
    fourth_powers += value * value * value * value;
  }
  return fourth_powers > 0 ? squares * squares / fourth_powers : 0;
}

void subtract_mean(std::vector<double> *values) {
  const double mean = std::accumulate(values->begin(), values->end(), 0.0) / static_cast<double>(values->size());
  for (double &value : *values) value -= mean;
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
      recent_(n_),
      level_(n_bins_ + 2 * kReach) {
  for (size_t i = 0; i < n_; ++i)
    window_.push_back(0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(i) / static_cast<double>(n_)));
  for (size_t i = 0; i < n_ / 2; ++i)
    roots_.push_back(std::polar(1.0, -2 * M_PI * static_cast<double>(i) / static_cast<double>(n_)));
}

void Tonality::add_frame(const float *samples, bool is_loud) {
  const size_t n_new = std::min<size_t>(shift_samples_, n_);
  std::copy(recent_.begin() + static_cast<ptrdiff_t>(n_new), recent_.end(), recent_.begin());
  std::copy(samples + (shift_samples_ - n_new), samples + shift_samples_, recent_.end() - static_cast<ptrdiff_t>(n_new));
  voice_ = 0;
  if (n_frames_++ % step_ != 0) return;
  spectra_.push_back(is_loud ? fine_structure() : Spectrum());
  if (is_loud) {
    look_for_lines(spectra_.back());
    look_for_voice();
  }
  if (spectra_.size() <= lag_) return;
  if (!spectra_.front().empty() && is_loud) look_for_music(correlation(spectra_.front(), spectra_.back()));
  spectra_.pop_front();
}

// Returns each bin's level above the mean of its neighbours, in decibels.
Tonality::Spectrum Tonality::fine_structure() {
  transform();
  for (size_t k = 0; k < level_.size(); ++k) {
    level_[k] = 10 * std::log10(std::norm(work_[first_bin_ - kReach + k]) + static_cast<double>(n_));
  }
  Spectrum fine(n_bins_);
  double sum = std::accumulate(level_.begin(), level_.begin() + 2 * kReach, 0.0);
  for (size_t k = 0; k < n_bins_; ++k) {
    sum += level_[k + 2 * kReach];
    fine[k] = std::clamp(level_[k + kReach] - sum / (2 * kReach + 1), kLeast_db, kMost_db);
    sum -= level_[k];
  }
  subtract_mean(&fine);
  return fine;
}

// Computes the discrete Fourier transform of the last samples, by decimation in time.
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

void Tonality::look_for_music(double steadiness) {
  steadiness_.push_back(steadiness);
  if (steadiness_.size() > kMusicMemory) steadiness_.pop_front();
  if (!is_music_) {
    is_music_ = steadiness_.size() == kMusicMemory && mean_of_last(steadiness_, kMusicMemory) > kMusic;
  } else if (mean_of_last(steadiness_, kVoiceMemory) < kVoice) {
    is_music_ = false;
    steadiness_.clear();
  }
}

void Tonality::look_for_lines(const Spectrum &fine) {
  const bool has_peak = *std::max_element(fine.begin(), fine.end()) > kPeak_db;
  has_lines_.push_back(has_peak || periodicity(fine) > kPeriodicity);
  if (has_lines_.size() > kNoiseMemory) has_lines_.pop_front();
  const auto n = static_cast<double>(std::count(has_lines_.begin(), has_lines_.end(), true));
  is_noise_ = has_lines_.size() == kNoiseMemory && n < kMinLines * kNoiseMemory;
}

// A bin of a harmonic is above its neighbours on both sides; one at the edge of a band of noise is so on one side alone.
void Tonality::look_for_voice() {
  const auto mean_from = [this](size_t first) {
    const auto begin = level_.begin() + static_cast<ptrdiff_t>(first);
    return std::accumulate(begin, begin + kReach, 0.0) / kReach;
  };
  Spectrum prominence(n_bins_);
  for (size_t k = 0; k < n_bins_; ++k) {
    const double beside = std::max(mean_from(k), mean_from(k + kReach + 1));
    prominence[k] = std::clamp(level_[k + kReach] - beside, kLeast_db, kMost_db);
  }
  subtract_mean(&prominence);
  const double peak_db = *std::max_element(prominence.begin(), prominence.end());
  const double least_periodicity = kVoicePeriodicity * std::max(1.0, kManyBins / std::max(1.0, effective_number(prominence)));
  const double evidence = std::max(periodicity(prominence) - least_periodicity, kPeakWeight * (peak_db - kVoicePeak_db));
  voice_ = static_cast<uint32_t>(std::lround(1000 * std::max(0.0, evidence)));
}

}  // namespace asr
