// SPDX-License-Identifier: Apache-2.0
#include "core/decode/band_rise.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

constexpr double kSmooth_s = 0.03;                // duration over which energies are averaged
constexpr double kBlock_s = 0.1, kFloor_s = 1.5;  // the floor is the least block mean of the last kFloor_s
constexpr double kBias_db = 1, kMaxRise_db = 20;

size_t frames_of(double seconds, double shift_s) { return std::max<size_t>(1, std::lround(seconds / shift_s)); }

}  // namespace

BandRise::BandRise(double sample_rate_hz, uint32_t shift_samples)
    : energies_(sample_rate_hz, shift_samples),
      n_smooth_(frames_of(kSmooth_s, shift_samples / sample_rate_hz)),
      n_block_(frames_of(kBlock_s, shift_samples / sample_rate_hz)),
      n_floor_(std::lround(kFloor_s / kBlock_s)) {}

void BandRise::learn_floor(const Bands &energies) {
  for (size_t b = 0; b < energies.size(); ++b) block_sum_[b] += energies[b];
  if (++n_in_block_ < n_block_) return;
  for (double &value : block_sum_) value /= static_cast<double>(n_block_);
  blocks_.push_back(block_sum_);
  if (blocks_.size() > n_floor_) blocks_.pop_front();
  block_sum_ = {};
  n_in_block_ = 0;
  for (size_t b = 0; b < energies.size(); ++b) {
    const auto is_less = [b](const Bands &x, const Bands &y) { return x[b] < y[b]; };
    floor_db_[b] = band_level_db((*std::min_element(blocks_.begin(), blocks_.end(), is_less))[b]);
  }
}

double BandRise::rise_db(const float *samples) {
  const Bands energies = energies_.next(samples);
  const size_t n_bands = energies_.n_bands();
  recent_.push_back(energies);
  if (recent_.size() > n_smooth_) recent_.pop_front();
  double sum_db = 0;
  for (size_t b = 0; b < n_bands && !blocks_.empty(); ++b) {
    double energy = 0;
    for (const Bands &one : recent_) energy += one[b];
    const double rise_db = band_level_db(energy / static_cast<double>(recent_.size())) - floor_db_[b] - kBias_db;
    sum_db += std::clamp(rise_db, 0.0, kMaxRise_db);
  }
  learn_floor(energies);
  return n_bands > 0 ? sum_db / static_cast<double>(n_bands) : 0;
}

}  // namespace asr
