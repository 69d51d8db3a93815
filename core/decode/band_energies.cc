// SPDX-License-Identifier: Apache-2.0
#include "core/decode/band_energies.h"

#include <cmath>

namespace asr {
namespace {

// Edges of the bands in Hz. Mains hum lies below the first; vowels fill the middle bands, fricatives the upper ones.
constexpr double kEdges_hz[] = {80, 250, 500, 1000, 2000, 4000, 7000};
constexpr double kMaxShare = 0.46;   // fraction of the sample rate; bands with a higher centre are left out
constexpr double kMinEnergy = 1;     // minimum of a band's energy: the square of the least step of 16-bit samples
constexpr double kSmallest = 1e-30;  // filter states below this become 0, before they are denormal numbers

}  // namespace

double band_level_db(double energy) { return 10 * std::log10(energy + kMinEnergy); }

// Designs band-pass filters of order 2 by the bilinear transform, with unit gain at the band's centre.
BandEnergies::BandEnergies(double sample_rate_hz, uint32_t shift_samples) : shift_samples_(shift_samples) {
  for (size_t b = 0; b < kBands; ++b) {
    const double middle_hz = std::sqrt(kEdges_hz[b] * kEdges_hz[b + 1]);
    if (middle_hz > kMaxShare * sample_rate_hz) return;
    const double omega = 2 * M_PI * middle_hz / sample_rate_hz;
    const double alpha = std::sin(omega) * (kEdges_hz[b + 1] - kEdges_hz[b]) / (2 * middle_hz);
    b0_[b] = alpha / (1 + alpha);
    a1_[b] = -2 * std::cos(omega) / (1 + alpha);
    a2_[b] = (1 - alpha) / (1 + alpha);
    n_bands_ = b + 1;
  }
}

BandEnergies::Bands BandEnergies::next(const float *samples) {
  Bands sum{};
  for (uint32_t i = 0; i < shift_samples_; ++i) {
    Bands x;
    x.fill(static_cast<double>(samples[i]));
    for (Section &s : sections_) {
      for (size_t b = 0; b < kBands; ++b) {
        const double in = b0_[b] * x[b];
        const double y = in + s.z1[b];
        s.z1[b] = s.z2[b] - a1_[b] * y;
        s.z2[b] = -in - a2_[b] * y;
        x[b] = y;
      }
    }
    for (size_t b = 0; b < kBands; ++b) sum[b] += x[b] * x[b];
  }
  for (Section &s : sections_) {
    for (Bands *z : {&s.z1, &s.z2}) {
      for (double &value : *z) value = std::abs(value) < kSmallest ? 0 : value;
    }
  }
  for (double &value : sum) value /= shift_samples_;
  return sum;
}

}  // namespace asr
