// SPDX-License-Identifier: Apache-2.0
// By how much a frame of a signal rises above the noise of the last seconds, in the mean of its bands (E1 of
// docs/equations.md). Used by VoiceActivity.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace asr {

class BandRise {
 public:
  BandRise(double sample_rate_hz, uint32_t shift_samples);

  // The rise of the next frame, shift_samples long, mono, on the scale of 16-bit integers: decibels, 0 while no floor is known.
  double rise_db(const float *samples);

 private:
  static constexpr size_t kBands = 6, kSections = 2;
  using Bands = std::array<double, kBands>;
  struct Section {
    Bands z1{}, z2{};
  };

  void set_filters(double sample_rate_hz);
  Bands mean_squares(const float *samples);
  void learn_floor(const Bands &energies);

  const uint32_t shift_samples_;
  const size_t n_smooth_, n_block_, n_floor_;  // frames, frames, blocks
  size_t n_bands_ = 0;                         // whose middle the sample rate allows
  Bands b0_{}, a1_{}, a2_{};                   // of both sections
  std::array<Section, kSections> sections_;
  std::deque<Bands> recent_;  // energies of the last frames
  std::deque<Bands> blocks_;  // mean energies
  Bands block_sum_{}, floor_db_{};
  size_t n_in_block_ = 0;
};

}  // namespace asr
