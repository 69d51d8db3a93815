// SPDX-License-Identifier: Apache-2.0
// F11: perceptual linear prediction, from log band energies to cepstra.
#include <algorithm>
#include <cmath>

#include "reference/mfcc.h"

namespace asr::reference {
namespace {

const double kPi = std::acos(-1.0);

double loudness(double hz) {
  const double square = hz * hz;
  return std::pow(square / (square + 1.6e5), 2) * (square + 1.44e6) / (square + 9.61e6);
}

}  // namespace

Row auditory_spectrum(const FrontEnd &f, const Row &log_mel, double warp) {
  Row out = {0};
  const double low = hz_to_mel(f.low_hz), step = (hz_to_mel(f.high_hz) - low) / (f.n_mel + 1);
  for (uint32_t m = 0; m < f.n_mel; ++m) {
    const double centre = warped_hz(f, mel_to_hz(low + (m + 1) * step), warp);
    out.push_back(std::pow(loudness(centre) * std::exp(log_mel[m]), f.compression));
  }
  out.front() = out[1];
  out.push_back(out.back());
  return out;
}

Row autocorrelations(const Row &spectrum, uint32_t order) {
  const size_t last = spectrum.size() - 1;
  Row out;
  for (uint32_t i = 0; i <= order; ++i) {
    double sum = 0;
    for (size_t j = 0; j <= last; ++j) {
      const double weight = j == 0 || j == last ? 1 : 2;
      sum += weight * spectrum[j] * std::cos(kPi * i * static_cast<double>(j) / static_cast<double>(last));
    }
    out.push_back(sum / (2 * static_cast<double>(last)));
  }
  return out;
}

Predictor predictor(const Row &r) {
  Row alpha;
  double error = r[0];
  for (size_t i = 1; i < r.size(); ++i) {
    double k = r[i];
    for (size_t j = 1; j < i; ++j) k += alpha[j - 1] * r[i - j];
    k /= error;
    const Row before = alpha;
    for (size_t j = 1; j < i; ++j) alpha[j - 1] = before[j - 1] - k * before[i - j - 1];
    alpha.push_back(-k);
    error *= std::max(1 - k * k, 1e-5);
  }
  return {alpha, error};
}

Row all_pole_cepstra(const Predictor &p) {
  Row c = {std::log(p.error)};
  for (size_t n = 1; n <= p.alpha.size(); ++n) {
    double sum = p.alpha[n - 1];
    for (size_t j = 1; j < n; ++j) sum += static_cast<double>(n - j) / static_cast<double>(n) * p.alpha[j - 1] * c[n - j];
    c.push_back(-sum);
  }
  return c;
}

Row plp(const FrontEnd &f, const Row &log_mel, double log_energy, double warp) {
  Row c = all_pole_cepstra(predictor(autocorrelations(auditory_spectrum(f, log_mel, warp), f.lpc_order)));
  if (f.floor_gain) c[0] = std::max(c[0], 0.0);
  return arranged(f, c, log_energy);
}

}  // namespace asr::reference
