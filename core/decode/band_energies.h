// SPDX-License-Identifier: Apache-2.0
// BandEnergies computes the energies of a signal in six bands, frame by frame (E1 of docs/equations.md). BandRise and
// SoundTrack use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace asr {

class BandEnergies {
 public:
  static constexpr size_t kBands = 6;
  using Bands = std::array<double, kBands>;

  BandEnergies(double sample_rate_hz, uint32_t shift_samples);

  // Returns the mean squares of the next frame's first n_bands() bands, those whose centre the sample rate allows. The frame
  // has shift_samples mono samples on the scale of 16-bit integers.
  Bands next(const float *samples);
  size_t n_bands() const { return n_bands_; }

 private:
  static constexpr size_t kSections = 2;
  struct Section {
    Bands z1{}, z2{};
  };

  const uint32_t shift_samples_;
  size_t n_bands_ = 0;
  Bands b0_{}, a1_{}, a2_{};  // coefficients of both sections
  std::array<Section, kSections> sections_;
};

double band_level_db(double energy);  // 0 without energy

}  // namespace asr
