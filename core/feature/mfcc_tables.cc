// SPDX-License-Identifier: Apache-2.0
#include "core/feature/mfcc_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/feature/mel.h"

namespace asr {
namespace {

const double kPi = std::acos(-1.0);

double window_at(WindowShape shape, uint32_t n, uint32_t size) {
  const double phase = 2 * kPi * n / (size - 1);
  switch (shape) {
    case WindowShape::kHamming:
      return 0.54 - 0.46 * std::cos(phase);
    case WindowShape::kHann:
      return 0.5 - 0.5 * std::cos(phase);
    case WindowShape::kPovey:
      return std::pow(0.5 - 0.5 * std::cos(phase), 0.85);
    case WindowShape::kRectangular:
      return 1;
  }
  return 1;
}

// Returns row i, column j of the cosine transform: F7.
double dct_at(const FrontEnd &f, uint32_t i, uint32_t j) {
  const double n = f.n_mel;
  const double basis = std::cos(kPi * i * (j + 0.5) / n);
  switch (f.dct) {
    case DctKind::kOrthonormal:
      return std::sqrt((i == 0 ? 1 : 2) / n) * basis;
    case DctKind::kHtk:
      return std::sqrt(2 / n) * basis;
    case DctKind::kSphinxLegacy:
      return (j == 0 ? 0.5 : 1.0) / n * basis;
  }
  return basis;
}

// Returns the lifter's factor, F8; 1 for i = 0.
double lifter_at(const FrontEnd &f, uint32_t i) {
  if (f.lifter == 0) return 1;
  const double half = f.integer_half_lifter ? std::floor(f.lifter / 2) : f.lifter / 2;
  return 1 + half * std::sin(kPi * i / f.lifter);
}

}  // namespace

std::vector<double> standard_warps(const FrontEnd &front_end) {
  std::vector<double> warps = {1};
  if (warp_bends_fit(front_end, 0.80) && warp_bends_fit(front_end, 1.25)) {
    for (int percent = 80; percent <= 125; ++percent) warps.push_back(percent / 100.0);
  }
  return warps;
}

FeatureTables::FeatureTables(const FrontEnd &front_end, const std::vector<double> &warps)
    : front_end_(front_end), warps_(warps) {
  const FrontEnd &f = front_end_;
  f.validate("features");
  make_window();
  for (double warp : warps_) make_bank(warp);
  make_dct();
  if (f.lpc_order > 0) make_prediction();
  view_.size = sizeof view_;
  view_.window_samples = f.window_samples;
  view_.shift_samples = f.shift_samples;
  view_.fft_samples = f.fft_samples;
  view_.n_mel = f.n_mel;
  view_.n_ceps = f.n_ceps;
  view_.n_warps = static_cast<uint32_t>(warps_.size());
  view_.window = window_.data();
  view_.mel_bands = bands_.data();
  view_.mel_weights = mel_weights_.data();
  view_.dct = dct_.data();
  if (f.noise_removal) {
    identity_.assign(size_t{f.n_mel} * f.n_mel, 0);
    for (uint32_t m = 0; m < f.n_mel; ++m) identity_[size_t{m} * f.n_mel + m] = 1;
    view_.n_ceps = f.n_mel;
    view_.dct = identity_.data();
  }
  view_.preemphasis = static_cast<float>(f.preemphasis);
  view_.preemphasis_in_frame = f.preemphasis_in_frame;
  view_.dc_removal = f.dc_removal;
  view_.magnitude = f.magnitude;
  view_.log_add = static_cast<float>(f.log_add);
  view_.log_floor = static_cast<float>(f.log_floor);
  view_.energy_row = f.use_energy ? (f.c0_last ? static_cast<int32_t>(f.n_ceps) - 1 : 0) : -1;
  view_.energy_windowed = f.energy_windowed;
  view_.dither = static_cast<float>(f.dither);
  view_.dither_seed = 1;
  view_.lpc_order = f.lpc_order;
  view_.compression = static_cast<float>(f.compression);
  view_.log_gain_floor = f.floor_gain ? 0 : std::numeric_limits<float>::lowest();
  view_.loudness = loudness_.data();
  view_.autocorrelation = autocorrelation_.data();
  dynamics_.emplace(f, f.noise_removal ? dct_.data() : nullptr);
  view_.dynamics = dynamics_->view();
}

FeatureTables &FeatureTables::for_many_banks() {
  const FrontEnd &f = front_end_;
  if (view_.triangles != nullptr) return *this;
  for (uint32_t bin = 0; bin < f.fft_samples / 2; ++bin) positions_.push_back(bin_position(f, bin));
  for (double warp : warps_) {
    for (uint32_t edge = 0; edge < f.n_mel + 2; ++edge) edges_.push_back(mel_edge(f, edge, warp));
    for (uint32_t band = 0; band < f.n_mel; ++band) gains_.push_back(static_cast<float>(mel_top(f, band, warp)));
  }
  triangles_ = {positions_.data(), edges_.data(), gains_.data()};
  view_.triangles = &triangles_;
  return *this;
}

uint32_t FeatureTables::warp_index(double warp) const {
  size_t nearest = 0;
  for (size_t i = 1; i < warps_.size(); ++i) {
    if (std::abs(warps_[i] - warp) < std::abs(warps_[nearest] - warp)) nearest = i;
  }
  if (warps_.empty() || !(std::abs(warps_[nearest] - warp) <= 0.005 + 1e-6)) {
    fail(ASR_INVALID_ARGUMENT, "vtln_warp %g: no filter bank of this model is warped so; use 1 for none", warp);
  }
  return static_cast<uint32_t>(nearest);
}

void FeatureTables::make_window() {
  for (uint32_t n = 0; n < front_end_.window_samples; ++n) {
    window_.push_back(static_cast<float>(window_at(front_end_.window, n, front_end_.window_samples)));
  }
}

void FeatureTables::make_bank(double warp) {
  for (uint32_t band = 0; band < front_end_.n_mel; ++band) {
    const MelTriangle triangle = mel_triangle(front_end_, band, warp);
    bands_.push_back(
        {triangle.first_bin, static_cast<uint32_t>(triangle.weights.size()), static_cast<uint32_t>(mel_weights_.size())});
    for (double weight : triangle.weights) mel_weights_.push_back(static_cast<float>(weight));
  }
}

void FeatureTables::make_dct() {
  const FrontEnd &f = front_end_;
  const bool is_plp = f.lpc_order > 0;
  const uint32_t n_columns = is_plp ? f.lpc_order + 1 : f.n_mel, n_cepstra = f.n_ceps - (f.energy_beside_c0 ? 1 : 0);
  for (uint32_t row = 0; row < n_cepstra; ++row) {
    const uint32_t i = f.c0_last ? (row + 1) % n_cepstra : row;
    const double factor = f.cepstral_scale * lifter_at(f, i);
    for (uint32_t j = 0; j < n_columns; ++j) {
      dct_.push_back(static_cast<float>(factor * (!is_plp ? dct_at(f, i, j) : i == j ? 1 : 0)));
    }
  }
  dct_.resize(size_t{f.n_ceps} * n_columns, 0.0f);  // the energy's row
}

// F11: loudness of the bands, already compressed, and the transform to autocorrelations. The spectrum's two ends repeat the
// first and the last band, so their columns are added to those bands' columns.
void FeatureTables::make_prediction() {
  const FrontEnd &f = front_end_;
  for (double warp : warps_) {
    for (uint32_t band = 0; band < f.n_mel; ++band) {
      loudness_.push_back(static_cast<float>(f.compression * std::log(equal_loudness(f, band, warp))));
    }
  }
  const double n = f.n_mel + 1.0;
  for (uint32_t i = 0; i <= f.lpc_order; ++i) {
    for (uint32_t band = 0; band < f.n_mel; ++band) {
      double sum = 2 * std::cos(kPi * i * (band + 1) / n);
      if (band == 0) sum += 1;
      if (band + 1 == f.n_mel) sum += std::cos(kPi * i);
      autocorrelation_.push_back(static_cast<float>(sum / (2 * n)));
    }
  }
}

}  // namespace asr
