// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/features/mfcc_tables.h"

#include <algorithm>
#include <cmath>

namespace asr::gpu {
namespace {

constexpr uint32_t kRadix = 16;

Float2 root(double turns) {  // exp(-2 pi i turns)
  static const double pi = std::acos(-1.0);
  return {static_cast<float>(std::cos(2 * pi * turns)), static_cast<float>(-std::sin(2 * pi * turns))};
}

MfccOptions options_of(const asr_features_view &view) {
  MfccOptions o{};
  o.window_samples = view.window_samples, o.shift_samples = view.shift_samples;
  o.padding = view.shift_samples % 2 == 0 ? 1 : 0;
  o.n_mel = view.n_mel, o.n_mel_padded = (view.n_mel + 3) / 4 * 4, o.n_ceps = view.n_ceps;
  o.preemphasis = view.preemphasis, o.preemphasis_in_frame = view.preemphasis_in_frame;
  o.log_add = view.log_add, o.log_floor = view.log_floor;
  o.dither = view.dither, o.dither_seed = view.dither_seed;
  o.dc_removal = view.dc_removal, o.magnitude = view.magnitude;
  o.energy_row = view.energy_row;
  if (view.energy_row >= 0) o.energy = view.energy_windowed != 0 ? 2 : 1;
  return o;
}

// Pairs beyond the window have weight 0 and the offset of a sample that exists.
std::vector<MfccPair> make_pairs(const asr_features_view &view, uint32_t padding) {
  const auto at = [&](uint32_t n) { return static_cast<int32_t>(n + n / view.shift_samples * padding); };
  const auto weight = [&](uint32_t n) { return n < view.window_samples ? view.window[n] : 0.0f; };
  std::vector<MfccPair> pairs;
  for (uint32_t n = 0; n < view.fft_samples; n += 2) {
    if (n >= view.window_samples) {
      pairs.push_back({{0, 0}, 0, 0});
    } else if (n > 0) {
      pairs.push_back({{weight(n), weight(n + 1)}, at(n), at(n - 1)});
    } else {
      pairs.push_back({{weight(0), weight(1)}, 0, view.preemphasis_in_frame != 0 ? 0 : -1 - static_cast<int32_t>(padding)});
    }
  }
  return pairs;
}

std::vector<Float2> make_window(const asr_features_view &view) {
  std::vector<Float2> window(view.fft_samples / 2);
  for (uint32_t n = 0; n < view.window_samples; ++n) window[n / 2][n % 2] = view.window[n] / 2;
  return window;
}

std::vector<MfccBand> make_bands(const asr_features_view &view, std::vector<Float4> *weights) {
  std::vector<MfccBand> bands;
  for (uint32_t i = 0; i < view.n_warps * view.n_mel; ++i) {
    const asr_mel_band &band = view.mel_bands[i];
    const uint32_t n_fours = (band.n_bins + 3) / 4;
    bands.push_back({band.first_bin, n_fours, static_cast<uint32_t>(weights->size()), 0});
    for (uint32_t four = 0; four < n_fours; ++four) {
      Float4 w{};
      std::copy_n(view.mel_weights + band.first_weight + size_t{4} * four, std::min(4u, band.n_bins - 4 * four), w.data());
      weights->push_back(w);
    }
  }
  return bands;
}

std::vector<Float4> make_dct(const asr_features_view &view) {
  std::vector<Float4> dct;
  for (uint32_t i = 0; i < view.n_ceps; ++i) {
    const float *const row = view.dct + size_t{i} * view.n_mel;
    for (uint32_t m = 0; m < view.n_mel; m += 4) {
      Float4 w{};
      std::copy_n(row + m, std::min(4u, view.n_mel - m), w.data());
      dct.push_back(w);
    }
  }
  return dct;
}

}  // namespace

MfccTables::MfccTables(const asr_features_view &view) : options(options_of(view)) {
  const uint32_t n_points = view.fft_samples / 2;
  pairs = make_pairs(view, options.padding);
  window = make_window(view);
  for (uint32_t n = n_points; n > kRadix; n /= kRadix) {
    for (uint32_t j = 0; j < n / kRadix; ++j) {
      for (uint32_t power = 0; power < kRadix; ++power) twiddles.push_back(root(double(j) * power / n));
    }
  }
  for (uint32_t k = 0; k < n_points / 2; ++k) real_twiddles.push_back(root(double(k) / (2 * n_points)));
  bands = make_bands(view, &weights);
  banks = make_mfcc_banks(view, &options.bank_fours);
  dct = make_dct(view);
  dct_tiles = make_mfcc_dct(view);
}

}  // namespace asr::gpu
