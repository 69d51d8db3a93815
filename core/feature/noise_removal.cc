// SPDX-License-Identifier: Apache-2.0
#include "core/feature/noise_removal.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

constexpr double kMaxGain = 20;
constexpr double kPeakDecay = 0.85, kMaskedPeak = 0.2;
constexpr uint32_t kSmoothedBands = 4;  // on each side

// Follows rising values slowly and falling values fast.
void follow_lower_envelope(double value, double *envelope) {
  const double keep = value >= *envelope ? 0.995 : 0.5;
  *envelope = keep * *envelope + (1 - keep) * value;
}

}  // namespace

NoiseRemoval::NoiseRemoval(const FeatureTables &tables)
    : dct_(tables.dct()),
      n_mel_(tables.front_end().n_mel),
      n_ceps_(tables.front_end().n_ceps),
      log_add_(tables.view()->log_add),
      log_floor_(tables.view()->log_floor),
      energy_(n_mel_),
      signal_(n_mel_),
      peak_(n_mel_, 0.0),
      gain_(n_mel_) {}

void NoiseRemoval::push(const float *log_mel, size_t n, std::vector<float> *cepstra) {
  for (size_t t = 0; t < n; ++t, log_mel += n_mel_) {
    for (uint32_t m = 0; m < n_mel_; ++m) energy_[m] = std::max(std::exp(double{log_mel[m]}) - log_add_, 0.0);
    apply_gain();
    for (double &e : energy_) e = std::log(std::max(e, log_floor_) + log_add_);
    for (uint32_t i = 0; i < n_ceps_; ++i) {
      double sum = 0;
      for (uint32_t m = 0; m < n_mel_; ++m) sum += dct_[size_t{i} * n_mel_ + m] * energy_[m];
      cepstra->push_back(static_cast<float>(sum));
    }
  }
}

void NoiseRemoval::apply_gain() {
  if (!started_) {
    started_ = true;
    power_ = energy_;
    for (double e : energy_) noise_.push_back(e / kMaxGain);
    floor_ = noise_;
  }
  for (uint32_t m = 0; m < n_mel_; ++m) {
    power_[m] = 0.7 * power_[m] + 0.3 * energy_[m];
    follow_lower_envelope(power_[m], &noise_[m]);
    const double unmasked = std::max(power_[m] - noise_[m], 1.0);
    follow_lower_envelope(unmasked, &floor_[m]);
    peak_[m] *= kPeakDecay;
    signal_[m] = unmasked < kPeakDecay * peak_[m] ? kMaskedPeak * peak_[m] : unmasked;
    peak_[m] = std::max(peak_[m], unmasked);
    signal_[m] = std::max(signal_[m], floor_[m]);
    gain_[m] = signal_[m] < kMaxGain * power_[m] ? std::max(signal_[m] / power_[m], 1 / kMaxGain) : kMaxGain;
  }
  for (uint32_t m = 0; m < n_mel_; ++m) {
    const uint32_t first = m - std::min(m, kSmoothedBands), end = std::min(m + kSmoothedBands + 1, n_mel_);
    double sum = 0;
    for (uint32_t k = first; k < end; ++k) sum += gain_[k];
    energy_[m] *= sum / (end - first);
  }
}

}  // namespace asr
