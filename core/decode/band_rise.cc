// SPDX-License-Identifier: Apache-2.0
#include "core/decode/band_rise.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

// Edges of the bands in Hz. Below the first lies mains hum; vowels fill the middle ones, fricatives the upper ones.
constexpr double kEdges_hz[] = {80, 250, 500, 1000, 2000, 4000, 7000};
constexpr double kHighestShare = 0.46;  // of the sample rate: a band whose middle lies higher is left out

constexpr double kSmooth_s = 0.03;                // energies are means over so long
constexpr double kBlock_s = 0.1, kFloor_s = 1.5;  // the floor is the least mean of a block in so long
constexpr double kLeastEnergy = 1;                // of a band: the square of the least step of 16-bit samples
constexpr double kBias_db = 1, kMostRise_db = 20;
constexpr double kSmallest = 1e-30;  // less than this in a filter becomes 0, before it is a denormal number

size_t frames_of(double seconds, double shift_s) { return std::max<size_t>(1, std::lround(seconds / shift_s)); }

double decibels(double energy) { return 10 * std::log10(energy + kLeastEnergy); }

}  // namespace

BandRise::BandRise(double sample_rate_hz, uint32_t shift_samples)
    : shift_samples_(shift_samples),
      n_smooth_(frames_of(kSmooth_s, shift_samples / sample_rate_hz)),
      n_block_(frames_of(kBlock_s, shift_samples / sample_rate_hz)),
      n_floor_(std::lround(kFloor_s / kBlock_s)) {
  set_filters(sample_rate_hz);
}

// Band-pass filters of order 2 from the bilinear transform, with a gain of 1 in the middle of the band.
void BandRise::set_filters(double sample_rate_hz) {
  for (size_t b = 0; b < kBands; ++b) {
    const double middle_hz = std::sqrt(kEdges_hz[b] * kEdges_hz[b + 1]);
    if (middle_hz > kHighestShare * sample_rate_hz) return;
    const double omega = 2 * M_PI * middle_hz / sample_rate_hz;
    const double alpha = std::sin(omega) * (kEdges_hz[b + 1] - kEdges_hz[b]) / (2 * middle_hz);
    b0_[b] = alpha / (1 + alpha);
    a1_[b] = -2 * std::cos(omega) / (1 + alpha);
    a2_[b] = (1 - alpha) / (1 + alpha);
    n_bands_ = b + 1;
  }
}

BandRise::Bands BandRise::mean_squares(const float *samples) {
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

void BandRise::learn_floor(const Bands &energies) {
  for (size_t b = 0; b < kBands; ++b) block_sum_[b] += energies[b];
  if (++n_in_block_ < n_block_) return;
  for (double &value : block_sum_) value /= static_cast<double>(n_block_);
  blocks_.push_back(block_sum_);
  if (blocks_.size() > n_floor_) blocks_.pop_front();
  block_sum_ = {};
  n_in_block_ = 0;
  for (size_t b = 0; b < kBands; ++b) {
    const auto is_less = [b](const Bands &x, const Bands &y) { return x[b] < y[b]; };
    floor_db_[b] = decibels((*std::min_element(blocks_.begin(), blocks_.end(), is_less))[b]);
  }
}

double BandRise::rise_db(const float *samples) {
  const Bands energies = mean_squares(samples);
  recent_.push_back(energies);
  if (recent_.size() > n_smooth_) recent_.pop_front();
  double sum_db = 0;
  for (size_t b = 0; b < n_bands_ && !blocks_.empty(); ++b) {
    double energy = 0;
    for (const Bands &one : recent_) energy += one[b];
    const double rise_db = decibels(energy / static_cast<double>(recent_.size())) - floor_db_[b] - kBias_db;
    sum_db += std::clamp(rise_db, 0.0, kMostRise_db);
  }
  learn_floor(energies);
  return n_bands_ > 0 ? sum_db / static_cast<double>(n_bands_) : 0;
}

}  // namespace asr
