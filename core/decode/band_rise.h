// SPDX-License-Identifier: Apache-2.0
// BandRise measures how far a frame rises above the noise of the last seconds, averaged over bands (E1 of docs/equations.md).
// VoiceActivity uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/decode/band_energies.h"

namespace asr {

class BandRise {
 public:
  BandRise(double sample_rate_hz, uint32_t shift_samples);

  // Returns the rise of the next frame in decibels, 0 while no floor is known. The frame has shift_samples mono samples on the
  // scale of 16-bit integers.
  double rise_db(const float *samples);

 private:
  using Bands = BandEnergies::Bands;

  void learn_floor(const Bands &energies);

  BandEnergies energies_;
  const size_t n_smooth_, n_block_, n_floor_;  // frames, frames, blocks
  std::deque<Bands> recent_;                   // energies of the last frames
  std::deque<Bands> blocks_;                   // mean energies
  Bands block_sum_{}, floor_db_{};
  size_t n_in_block_ = 0;
};

}  // namespace asr
