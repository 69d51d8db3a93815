// SPDX-License-Identifier: Apache-2.0
// F1 ... F8: from samples to cepstra. F11 is in plp.cc.
#include "reference/mfcc.h"

#include <algorithm>
#include <cmath>

namespace asr::reference {
namespace {

const double kPi = std::acos(-1.0);

void subtract_mean(Row *frame) {  // [0] is the sample before the frame
  double sum = 0;
  for (size_t n = 1; n < frame->size(); ++n) sum += (*frame)[n];
  for (double &x : *frame) x -= sum / static_cast<double>(frame->size() - 1);
}

double log_energy_of(const FrontEnd &f, const Row &frame, size_t first) {
  double sum = 0;
  for (size_t n = first; n < frame.size(); ++n) sum += frame[n] * frame[n];
  return std::log(std::max(sum, f.log_floor));
}

double window_at(WindowShape shape, double n, double size) {
  const double cosine = std::cos(2 * kPi * n / (size - 1));
  switch (shape) {
    case WindowShape::kHamming:
      return 0.54 - 0.46 * cosine;
    case WindowShape::kHann:
      return 0.5 - 0.5 * cosine;
    case WindowShape::kPovey:
      return std::pow(0.5 - 0.5 * cosine, 0.85);
    case WindowShape::kRectangular:
      break;
  }
  return 1;
}

}  // namespace

Rows frames(const FrontEnd &f, const std::vector<double> &signal) {
  const auto n = static_cast<int64_t>(signal.size()), window = int64_t{f.window_samples}, shift = int64_t{f.shift_samples};
  int64_t n_frames = 0, offset = 0;
  switch (f.edges) {
    case FrameEdges::kSnip:
      n_frames = n < window ? 0 : 1 + (n - window) / shift;
      break;
    case FrameEdges::kPadTail:
      n_frames = n == 0 ? 0 : n < window ? 1 : 2 + (n - window) / shift;
      break;
    case FrameEdges::kCentred:
      n_frames = (n + shift / 2) / shift;
      offset = shift / 2 - window / 2;
      break;
  }
  const auto sample = [&](int64_t i) {
    if (f.edges != FrameEdges::kCentred) return i < 0 || i >= n ? 0.0 : signal[static_cast<size_t>(i)];
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return signal[static_cast<size_t>(i)];
  };
  Rows out;
  for (int64_t t = 0; t < n_frames; ++t) {
    Row frame;
    for (int64_t i = -1; i < window; ++i) frame.push_back(sample(offset + t * shift + i));
    out.push_back(frame);
  }
  return out;
}

Row windowed(const FrontEnd &f, const Row &samples, double *log_energy) {
  Row x = samples;
  if (f.preemphasis_in_frame) x[0] = x[1];
  if (f.dc_removal == ASR_DC_BEFORE_PREEMPHASIS) subtract_mean(&x);
  *log_energy = log_energy_of(f, x, 1);
  Row y = x;
  for (size_t n = 1; n < x.size(); ++n) y[n] = x[n] - f.preemphasis * x[n - 1];
  if (f.dc_removal == ASR_DC_AFTER_PREEMPHASIS) subtract_mean(&y);
  y.erase(y.begin());
  for (size_t n = 0; n < y.size(); ++n) y[n] *= window_at(f.window, static_cast<double>(n), static_cast<double>(y.size()));
  if (f.energy_windowed) *log_energy = log_energy_of(f, y, 0);
  return y;
}

Row spectrum(const FrontEnd &f, const Row &windowed) {
  Row cosine, sine;
  for (uint32_t n = 0; n < f.fft_samples; ++n) {
    cosine.push_back(std::cos(2 * kPi * n / f.fft_samples));
    sine.push_back(std::sin(2 * kPi * n / f.fft_samples));
  }
  Row out;
  for (uint32_t k = 0; k <= f.fft_samples / 2; ++k) {
    double re = 0, im = 0;
    for (uint64_t n = 0; n < windowed.size(); ++n) {
      re += windowed[n] * cosine[n * k % f.fft_samples];
      im -= windowed[n] * sine[n * k % f.fft_samples];
    }
    out.push_back(f.magnitude ? std::sqrt(re * re + im * im) : re * re + im * im);
  }
  return out;
}

double hz_to_mel(double hz) { return 1127 * std::log(1 + hz / 700); }
double mel_to_hz(double mel) { return 700 * (std::exp(mel / 1127) - 1); }

double warped_hz(const FrontEnd &f, double hz, double warp) {
  if (warp == 1 || hz < f.low_hz || hz > f.high_hz) return hz;
  double low = f.vtln_low_hz > 0 ? f.vtln_low_hz : f.low_hz + 100, high = f.vtln_high_hz > 0 ? f.vtln_high_hz : f.high_hz - 500;
  low *= f.vtln_htk_bends ? 2 / (1 + 1 / warp) : std::max(1.0, warp);
  high *= f.vtln_htk_bends ? 2 / (1 + 1 / warp) : std::min(1.0, warp);
  if (hz >= low && hz <= high) return hz / warp;
  // The line through the fixed end of the band and the warped bend.
  const double end = hz < low ? f.low_hz : f.high_hz, bend = hz < low ? low : high;
  return end + (hz - end) * (bend / warp - end) / (bend - end);
}

Row mel(const FrontEnd &f, const Row &spectrum, double warp) {
  const double bin_hz = f.sample_rate_hz / f.fft_samples;
  Row edges;
  for (uint32_t i = 0; i < f.n_mel + 2; ++i) {
    const double step = (hz_to_mel(f.high_hz) - hz_to_mel(f.low_hz)) / (f.n_mel + 1);
    double hz = warped_hz(f, mel_to_hz(hz_to_mel(f.low_hz) + i * step), warp);
    if (f.round_edges_to_bins) hz = std::floor(hz / bin_hz + 0.5) * bin_hz;
    edges.push_back(hz);
  }
  const auto x = [&](double hz) { return f.triangles_in_hz ? hz : hz_to_mel(hz); };
  Row out;
  for (uint32_t m = 0; m < f.n_mel; ++m) {
    const double left = edges[m], centre = edges[m + 1], right = edges[m + 2];
    double energy = 0;
    for (uint32_t k = 0; k < f.fft_samples / 2; ++k) {
      const double hz = k * bin_hz;
      if (x(hz) <= x(left) || x(hz) >= x(right)) continue;
      const double rise = (x(hz) - x(left)) / (x(centre) - x(left)), fall = (x(right) - x(hz)) / (x(right) - x(centre));
      energy += std::min(rise, fall) * (f.unit_area ? 2 / (right - left) : 1) * spectrum[k];
    }
    out.push_back(energy);
  }
  return out;
}

Rows noise_removed(const Rows &mel) {
  Rows out;
  if (mel.empty()) return out;
  const size_t n = mel[0].size();
  Row power = mel[0], noise = mel[0], peak(n, 0.0);
  for (double &x : noise) x /= 20;
  Row floor = noise;
  const auto follow_lower = [](double *envelope, double value) {
    const double keep = value >= *envelope ? 0.995 : 0.5;
    *envelope = keep * *envelope + (1 - keep) * value;
  };
  for (const Row &e : mel) {
    Row gain(n), row;
    for (size_t m = 0; m < n; ++m) {
      power[m] = 0.7 * power[m] + 0.3 * e[m];
      follow_lower(&noise[m], power[m]);
      const double signal = std::max(power[m] - noise[m], 1.0);
      follow_lower(&floor[m], signal);
      peak[m] *= 0.85;
      const double masked = std::max(signal < 0.85 * peak[m] ? 0.2 * peak[m] : signal, floor[m]);
      peak[m] = std::max(peak[m], signal);
      gain[m] = std::clamp(power[m] > 0 ? masked / power[m] : 20, 1.0 / 20, 20.0);
    }
    for (size_t m = 0; m < n; ++m) {
      const size_t first = m < 4 ? 0 : m - 4, end = std::min(m + 5, n);
      double sum = 0;
      for (size_t k = first; k < end; ++k) sum += gain[k];
      row.push_back(e[m] * sum / static_cast<double>(end - first));
    }
    out.push_back(row);
  }
  return out;
}

Row logarithm(const FrontEnd &f, const Row &mel) {
  Row out;
  for (double energy : mel) out.push_back(std::log(std::max(energy, f.log_floor) + f.log_add));
  return out;
}

Row cepstra(const FrontEnd &f, const Row &log_mel, double log_energy) {
  const double n = f.n_mel;
  Row out;
  for (uint32_t i = 0; i < f.n_ceps - (f.energy_beside_c0 ? 1 : 0); ++i) {
    double sum = 0;
    for (uint32_t j = 0; j < f.n_mel; ++j) {
      const double half_first = f.dct == DctKind::kSphinxLegacy && j == 0 ? 0.5 : 1;
      sum += half_first * log_mel[j] * std::cos(kPi * i * (j + 0.5) / n);
    }
    switch (f.dct) {
      case DctKind::kOrthonormal:
        sum *= std::sqrt((i == 0 ? 1 : 2) / n);
        break;
      case DctKind::kHtk:
        sum *= std::sqrt(2 / n);
        break;
      case DctKind::kSphinxLegacy:
        sum /= n;
        break;
    }
    out.push_back(sum);
  }
  return arranged(f, out, log_energy);
}

Row arranged(const FrontEnd &f, const Row &cepstra, double log_energy) {
  Row out;
  const double half_lifter = f.integer_half_lifter ? std::floor(f.lifter / 2) : f.lifter / 2;
  for (uint32_t i = 0; i < f.n_ceps - (f.energy_beside_c0 ? 1 : 0); ++i) {
    const double lifter = f.lifter > 0 ? 1 + half_lifter * std::sin(kPi * i / f.lifter) : 1;
    out.push_back(i == 0 && f.use_energy && !f.energy_beside_c0 ? log_energy : cepstra[i] * lifter * f.cepstral_scale);
  }
  if (f.c0_last) std::rotate(out.begin(), out.begin() + 1, out.end());
  if (f.energy_beside_c0) out.push_back(log_energy);
  return out;
}

Rows mfcc(const FrontEnd &f, const std::vector<double> &signal, double warp) {
  Rows energies, out;
  Row log_energies;
  for (const Row &frame : frames(f, signal)) {
    log_energies.push_back(0);
    energies.push_back(mel(f, spectrum(f, windowed(f, frame, &log_energies.back())), warp));
  }
  if (f.noise_removal) energies = noise_removed(energies);
  for (size_t t = 0; t < energies.size(); ++t) {
    const Row log_mel = logarithm(f, energies[t]);
    out.push_back(f.lpc_order > 0 ? plp(f, log_mel, log_energies[t], warp) : cepstra(f, log_mel, log_energies[t]));
  }
  return out;
}

}  // namespace asr::reference
