// SPDX-License-Identifier: Apache-2.0
// SoundTrack keeps the band energies of an utterance and measures how much its spectrum varies. Speech varies, steady noise
// does not (E4 of docs/equations.md). Stream keeps a track; out_of_grammar() asks for the variation.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "core/decode/band_energies.h"

namespace asr {

using BandFrame = std::array<float, BandEnergies::kBands>;

// Sound is a run of consecutive frames of a track.
struct Sound {
  std::vector<BandFrame> frames;
  size_t n_bands = 0;

  // Returns the standard deviation of a band's level over frames begin..end−1, averaged over the bands, in decibels. Levels are
  // relative to the mean level of all bands. Unset if the frames are too few.
  std::optional<double> variation_db(size_t begin, size_t end) const;
};

class SoundTrack {
 public:
  SoundTrack(double sample_rate_hz, uint32_t shift_samples, uint64_t first_frame);

  void add(const float *samples, size_t n);  // adds the next samples
  void forget_before(uint64_t frame);
  Sound sound(uint64_t begin, uint64_t end) const;  // frames begin..end-1 as far as they are kept

 private:
  BandEnergies energies_;
  const uint32_t shift_samples_;
  std::vector<float> rest_;  // samples of an incomplete frame
  std::deque<BandFrame> frames_;
  uint64_t first_frame_;  // number of frames_[0]
};

}  // namespace asr
