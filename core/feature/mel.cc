// SPDX-License-Identifier: Apache-2.0
#include "core/feature/mel.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace asr {
namespace {

struct Bends {
  double low, high;  // hz; linear with slope 1 / warp between them
};

Bends bends_of(const FrontEnd &f, double warp) {
  const double low = f.vtln_low_hz > 0 ? f.vtln_low_hz : f.low_hz + 100;
  const double high = f.vtln_high_hz > 0 ? f.vtln_high_hz : f.high_hz - 500;
  if (f.vtln_htk_bends) return {low * 2 * warp / (1 + warp), high * 2 * warp / (1 + warp)};
  return {low * std::max(1.0, warp), high * std::min(1.0, warp)};
}

// Returns edge i of the bank's n_mel + 2, in Hz; edges are equally spaced in mel before the warp.
double exact_edge_hz(const FrontEnd &f, uint32_t i, double warp) {
  const double low = hz_to_mel(f.low_hz), high = hz_to_mel(f.high_hz);
  return warp_hz(f, mel_to_hz(low + (high - low) * i / (f.n_mel + 1)), warp);
}

double edge_hz(const FrontEnd &f, uint32_t i, double warp) {
  const double hz = exact_edge_hz(f, i, warp);
  if (!f.round_edges_to_bins) return hz;
  const double bin_hz = f.sample_rate_hz / f.fft_samples;
  return std::floor(hz / bin_hz + 0.5) * bin_hz;
}

// Returns the place of a frequency on the scale on which triangles are linear.
double position(const FrontEnd &f, double hz) { return f.triangles_in_hz ? hz : hz_to_mel(hz); }

}  // namespace

double hz_to_mel(double hz) { return 1127 * std::log1p(hz / 700); }
double mel_to_hz(double mel) { return 700 * std::expm1(mel / 1127); }

bool warp_bends_fit(const FrontEnd &f, double warp) {
  const Bends bends = bends_of(f, warp);
  return f.low_hz < bends.low && bends.low < bends.high && bends.high < f.high_hz;
}

double warp_hz(const FrontEnd &f, double hz, double warp) {
  if (warp == 1 || hz <= f.low_hz || hz >= f.high_hz) return hz;
  const Bends bends = bends_of(f, warp);
  if (hz < bends.low) return f.low_hz + (hz - f.low_hz) * (bends.low / warp - f.low_hz) / (bends.low - f.low_hz);
  if (hz < bends.high) return hz / warp;
  return f.high_hz - (f.high_hz - hz) * (f.high_hz - bends.high / warp) / (f.high_hz - bends.high);
}

double bin_position(const FrontEnd &f, uint32_t bin) { return position(f, bin * f.sample_rate_hz / f.fft_samples); }

double mel_edge(const FrontEnd &f, uint32_t edge, double warp) { return position(f, edge_hz(f, edge, warp)); }

double mel_top(const FrontEnd &f, uint32_t band, double warp) {
  if (!f.unit_area) return 1;
  const double left = edge_hz(f, band, warp), right = edge_hz(f, band + 2, warp);
  return right > left ? 2 / (right - left) : 1;
}

MelTriangle mel_triangle(const FrontEnd &f, uint32_t band, double warp) {
  if (!(warp >= 0.5 && warp <= 2)) fail(ASR_INVALID_ARGUMENT, "vtln_warp is %g but must be 0.5 to 2", warp);
  if (warp != 1 && !warp_bends_fit(f, warp)) {
    fail(ASR_INVALID_ARGUMENT, "vtln_warp %g: the filter bank from %g to %g Hz is too narrow to be warped; use 1", warp,
         f.low_hz, f.high_hz);
  }
  const double left_hz = edge_hz(f, band, warp), left = position(f, left_hz), centre = mel_edge(f, band + 1, warp),
               right = mel_edge(f, band + 2, warp), top = mel_top(f, band, warp);
  MelTriangle triangle;
  // Starts two bins before the left edge, which is safe however the edge was rounded. The Nyquist bin belongs to no band.
  const double left_bin = left_hz * f.fft_samples / f.sample_rate_hz - 2;
  for (uint32_t bin = left_bin > 0 ? static_cast<uint32_t>(left_bin) : 0; bin < f.fft_samples / 2; ++bin) {
    const double x = bin_position(f, bin);
    if (x >= right) break;
    if (x <= left) continue;
    if (triangle.weights.empty()) triangle.first_bin = bin;
    triangle.weights.push_back(top * (x <= centre ? (x - left) / (centre - left) : (right - x) / (right - centre)));
  }
  return triangle;
}

double equal_loudness(const FrontEnd &f, uint32_t band, double warp) {
  const double hz = exact_edge_hz(f, band + 1, warp), square = hz * hz, low = square / (square + 1.6e5);
  return low * low * (square + 1.44e6) / (square + 9.61e6);
}

}  // namespace asr
