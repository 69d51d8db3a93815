// SPDX-License-Identifier: Apache-2.0
// The band energies of an utterance, and how much its spectrum varies: speech does, steady noise does not (E4 of
// docs/equations.md). Stream keeps a track; out_of_grammar() asks for the variation.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "core/decode/band_energies.h"

namespace asr {

using BandFrame = std::array<float, BandEnergies::kBands>;

// Consecutive frames of a track.
struct Sound {
  std::vector<BandFrame> frames;
  size_t n_bands = 0;

  // The standard deviation over the frames begin..end−1 of a band's level, relative to the mean level of all bands, in
  // decibels; the mean over the bands. Unset where the frames are too few to tell.
  std::optional<double> variation_db(size_t begin, size_t end) const;
};

class SoundTrack {
 public:
  SoundTrack(double sample_rate_hz, uint32_t shift_samples, uint64_t first_frame);

  void add(const float *samples, size_t n);  // the next
  void forget_before(uint64_t frame);
  Sound sound(uint64_t begin, uint64_t end) const;  // of the frames that are kept

 private:
  BandEnergies energies_;
  const uint32_t shift_samples_;
  std::vector<float> rest_;  // of a frame that has begun
  std::deque<BandFrame> frames_;
  uint64_t first_frame_;  // of frames_
};

}  // namespace asr
