// SPDX-License-Identifier: Apache-2.0
// Tonality separates music and noise from speech by lines in the spectrum (E3 of docs/equations.md). Lines of music
// stay in place for the length of a note, the harmonics of a voice move, and noise has no lines. It also has the evidence of a
// voice (E5). VoiceActivity uses it.
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

  // Takes the next frame; only loud frames count.
  void add_frame(const float *samples, bool is_loud);
  // Returns the evidence of a voice in the frame's spectrum, in thousandths (E5); only one spectrum in 20 ms is looked at.
  uint32_t voice() const { return voice_; }
  bool rules_out_speech() const { return is_music_ || is_noise_; }

 private:
  using Spectrum = std::vector<double>;  // fine structure of the log spectrum, zero mean; empty if the frame does not count

  Spectrum fine_structure();
  void transform();
  void look_for_music(double steadiness);
  void look_for_lines(const Spectrum &fine);
  void look_for_voice();

  const uint32_t shift_samples_;
  const size_t step_, lag_;  // frames between spectra; spectra between compared ones
  const size_t n_;           // samples of a spectrum, a power of two
  const size_t first_bin_, n_bins_;
  std::vector<double> window_;
  std::vector<std::complex<double>> roots_, work_;
  std::vector<float> recent_;     // the last n_ samples
  std::vector<double> level_;     // of the spectrum's bins in decibels, with kReach more on each side
  std::deque<Spectrum> spectra_;  // the last lag_ + 1
  std::deque<double> steadiness_;
  std::deque<bool> has_lines_;
  uint64_t n_frames_ = 0;
  uint32_t voice_ = 0;
  bool is_music_ = false, is_noise_ = false;
};

}  // namespace asr
