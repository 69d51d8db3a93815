// SPDX-License-Identifier: Apache-2.0
// Tells music from speech by its tones, which stay where they are for the length of a note, while the harmonics of a voice move
// (E3 of docs/equations.md). Used by VoiceActivity.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace asr {

class Tonality {
 public:
  Tonality(double sample_rate_hz, uint32_t shift_samples);

  // Takes the next frame, of which only loud ones count.
  void add_frame(const float *samples, bool is_loud);
  bool is_music() const { return is_music_; }

 private:
  using Spectrum = std::vector<double>;  // fine structure of the logarithm, of mean 0; empty where the frame does not count

  Spectrum fine_structure();
  void transform();
  void decide(double steadiness);

  const uint32_t shift_samples_;
  const size_t step_, lag_;  // frames between spectra; spectra between those that are compared
  const size_t n_;           // samples of a spectrum, a power of two
  const size_t first_bin_, n_bins_;
  std::vector<double> window_;
  std::vector<std::complex<double>> roots_, work_;
  std::vector<float> recent_;     // the last n_ samples
  std::deque<Spectrum> spectra_;  // the last lag_ + 1
  std::deque<double> steadiness_;
  uint64_t n_frames_ = 0;
  bool is_music_ = false;
};

}  // namespace asr
