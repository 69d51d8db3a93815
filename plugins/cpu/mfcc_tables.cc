// SPDX-License-Identifier: Apache-2.0
// Makes the tables of mfcc_block.cc: copies of the view's, and the tables of the Fourier transform (passes as in fft-inl.h).
#include <algorithm>
#include <cmath>

#include "plugins/common/features_view.h"
#include "plugins/common/mfcc_plp.h"
#include "plugins/cpu/mfcc_block.h"

namespace asr::cpu {
namespace {

const double kPi = std::acos(-1.0);

void push_root(std::vector<float> *roots, double turns) {  // exp(-2 pi i turns)
  roots->push_back(static_cast<float>(std::cos(2 * kPi * turns)));
  roots->push_back(static_cast<float>(-std::sin(2 * kPi * turns)));
}

// Makes the roots for the radix-4 passes over blocks of n_points, n_points / 4, ...: j, 2 j and 3 j of n for j < n / 4.
std::vector<float> make_twiddles(uint32_t n_points) {
  std::vector<float> roots;
  for (uint32_t n = n_points; n > 4; n /= 4) {
    for (uint32_t j = 0; j < n / 4; ++j) {
      for (uint32_t power = 1; power <= 3; ++power) push_root(&roots, static_cast<double>(j) * power / n);
    }
  }
  return roots;
}

// Each radix-4 pass sends the frequencies with k mod 4 = r to quarter r of its block; a last radix-2 pass leaves them in order.
uint32_t position_of(uint32_t k, uint32_t n_points) {
  if (n_points <= 2) return k;
  return k % 4 * (n_points / 4) + position_of(k / 4, n_points / 4);
}

}  // namespace

MfccTables::MfccTables(const asr_features_view &features) : view(features) {
  check_features_view(view);
  mel_bands.assign(view.mel_bands, view.mel_bands + size_t{view.n_warps} * view.n_mel);
  size_t n_weights = 0;
  first_bin = view.fft_samples / 2 + 1, end_bin = 0;
  for (const asr_mel_band &band : mel_bands) {
    if (band.n_bins == 0) continue;
    n_weights = std::max(n_weights, size_t{band.first_weight} + band.n_bins);
    first_bin = std::min(first_bin, band.first_bin);
    end_bin = std::max(end_bin, band.first_bin + band.n_bins);
  }
  window.assign(view.window, view.window + view.window_samples);
  mel_weights.assign(view.mel_weights, view.mel_weights + n_weights);
  view.lpc_order = lpc_order_of(features);
  dct.assign(view.dct, view.dct + size_t{view.n_ceps} * dct_columns(view));
  if (view.lpc_order > 0) {
    loudness.assign(view.loudness, view.loudness + size_t{view.n_warps} * view.n_mel);
    autocorrelation.assign(view.autocorrelation, view.autocorrelation + (size_t{view.lpc_order} + 1) * view.n_mel);
  }
  view.window = window.data();
  view.mel_bands = mel_bands.data();
  view.mel_weights = mel_weights.data();
  view.dct = dct.data();
  view.loudness = loudness.data();
  view.autocorrelation = autocorrelation.data();

  const uint32_t n_points = view.fft_samples / 2;
  twiddles = make_twiddles(n_points);
  for (uint32_t k = 0; k < n_points; ++k) position.push_back(position_of(k, n_points));
  for (uint32_t k = 0; k <= n_points / 2; ++k) push_root(&real_twiddles, static_cast<double>(k) / view.fft_samples);
}

}  // namespace asr::cpu
