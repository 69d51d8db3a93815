// SPDX-License-Identifier: Apache-2.0
// WholeMean normalises the cepstra of a signal by the mean (and deviation) of all its frames, or its energy by the highest, or
// both (F9 of docs/equations.md). It sees the frames in passes that measure: one for the mean, a second one for the deviation
// if the model asks for it. Normaliser uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/feature/front_end.h"

namespace asr {

struct WholeMeanState {
  std::vector<double> mean, scale;  // [n_ceps]
  double highest = 0;               // largest energy
  uint32_t n_passes = 0;            // passes that have measured these
};

class WholeMean {
 public:
  // Returns the number of passes that measure.
  static uint32_t n_passes(const FrontEnd &front_end);

  // start: what earlier passes over the same signal measured; nullptr: nothing.
  explicit WholeMean(const FrontEnd &front_end, const WholeMeanState *start = nullptr);

  bool is_measured() const { return state_.n_passes == n_passes_; }
  void measure(const float *frame);    // [n_ceps]; the next frame of the present pass, while !is_measured()
  void end_pass();                     // after the last frame
  void normalise(float *frame) const;  // once it is measured
  const WholeMeanState &state() const { return state_; }

 private:
  bool is_energy(uint32_t i) const { return energy_range_ > 0 && i == c0_; }

  const bool skip_negative_c0_, cepstra_;
  const double energy_range_, energy_scale_;  // the range in nepers; 0: the energy is a cepstrum
  const uint32_t n_ceps_, c0_, n_passes_;
  WholeMeanState state_;
  std::vector<double> sum_;  // of the frames of this pass that count, or of their squares
  double n_counted_ = 0;
  size_t n_frames_ = 0;
};

}  // namespace asr
