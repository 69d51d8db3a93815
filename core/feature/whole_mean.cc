// SPDX-License-Identifier: Apache-2.0
#include "core/feature/whole_mean.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

constexpr double kVarianceFloor = 1e-20;

}  // namespace

uint32_t WholeMean::n_passes(const FrontEnd &f) { return f.cmn_variance && f.cmn_cepstra ? 2 : 1; }

WholeMean::WholeMean(const FrontEnd &f, const WholeMeanState *start)
    : skip_negative_c0_(f.cmn_skip_negative_c0),
      cepstra_(f.cmn_cepstra),
      energy_range_(f.energy_range_db * std::log(10) / 10),
      energy_scale_(f.energy_scale),
      n_ceps_(f.n_ceps),
      c0_(f.c0_last ? f.n_ceps - 1 : 0),
      n_passes_(n_passes(f)),
      sum_(n_ceps_, 0.0) {
  if (start != nullptr) {
    state_ = *start;
  } else {
    state_.mean.assign(n_ceps_, 0.0);
    state_.scale.assign(n_ceps_, 1.0);
  }
}

void WholeMean::measure(const float *frame) {
  if (state_.n_passes > 0) {
    for (uint32_t i = 0; i < n_ceps_; ++i) sum_[i] += (frame[i] - state_.mean[i]) * (frame[i] - state_.mean[i]);
    ++n_frames_;
    return;
  }
  const auto level = static_cast<double>(frame[c0_]);
  state_.highest = n_frames_++ == 0 ? level : std::max(state_.highest, level);
  if (skip_negative_c0_ && level < 0) return;
  for (uint32_t i = 0; i < n_ceps_; ++i) sum_[i] += frame[i];
  ++n_counted_;
}

void WholeMean::end_pass() {
  for (uint32_t i = 0; i < n_ceps_; ++i) {
    if (!cepstra_ || is_energy(i)) continue;
    if (state_.n_passes == 0) {
      state_.mean[i] = n_counted_ > 0 ? sum_[i] / n_counted_ : 0;
    } else if (n_frames_ > 0) {
      state_.scale[i] = 1 / std::sqrt(std::max(sum_[i] / static_cast<double>(n_frames_), kVarianceFloor));
    }
  }
  ++state_.n_passes;
  std::fill(sum_.begin(), sum_.end(), 0.0);
  n_counted_ = 0;
  n_frames_ = 0;
}

void WholeMean::normalise(float *frame) const {
  for (uint32_t i = 0; i < n_ceps_; ++i) {
    frame[i] = static_cast<float>((frame[i] - state_.mean[i]) * state_.scale[i]);
  }
  if (energy_range_ == 0) return;
  const double below = std::min(state_.highest - static_cast<double>(frame[c0_]), energy_range_);
  frame[c0_] = static_cast<float>(1 - energy_scale_ * below);
}

}  // namespace asr
