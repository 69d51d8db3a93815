// SPDX-License-Identifier: Apache-2.0
// F11 of docs/equations.md by one thread for one frame: from log band energies to PLP cepstra, in float; double reference
// reference/plp.cc. It runs behind an MFCC kernel whose cosine transform is the identity.
#ifndef SENONE_KERNELS_MFCC_PLP_H
#define SENONE_KERNELS_MFCC_PLP_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

#define PLP_MOST_ORDER 64  // kMaxLpcOrder of core/base/limits.h
FIXED uint32_t kMaxPlpOrder = PLP_MOST_ORDER;

// A row of levels is the log energies of n_mel bands and, if energy_row >= 0, the log energy of the frame.
typedef struct PlpNumbers {
  uint32_t n_mel, n_levels, n_ceps, lpc_order;
  int32_t energy_row;  // row of the cepstra that holds the energy; -1 = none
  float compression;   // for exponentials of base 2
  float log_gain_floor;
} PlpNumbers;

#if defined(__CUDACC__) || defined(__OPENCL_C_VERSION__)

// Turns the levels into the auditory spectrum, in place. loudness: [n_mel], for exponentials of base 2.
DEVICE void plp_spectrum(const PlpNumbers *n, GLOBAL const float *loudness, GLOBAL float *levels) {
  for (uint32_t m = 0; m < n->n_mel; ++m) levels[m] = fast_exp2(n->compression * levels[m] + loudness[m]);
}

// Levinson and Durbin's recursion: r[0 ... order] becomes alpha[1 ... order]. Returns the error. A step changes alpha j and
// i - j together, in place.
DEVICE float plp_predictor(uint32_t order, const float *r, float *alpha) {
  float error = r[0];
  for (uint32_t i = 1; i <= order; ++i) {
    float sum = r[i];
    for (uint32_t j = 1; j < i; ++j) sum += alpha[j] * r[i - j];
    const float k = sum / error;
    alpha[i] = -k;
    for (uint32_t j = 1; 2 * j <= i; ++j) {
      const float low = alpha[j], high = alpha[i - j];
      alpha[j] = low - k * high;
      if (2 * j < i) alpha[i - j] = high - k * low;
    }
    error *= fmax(1 - k * k, 1e-5f);
  }
  return error;
}

// weights: [n_ceps][lpc_order + 1], lifter and scale. levels are overwritten.
DEVICE void plp_frame(const PlpNumbers *n, GLOBAL const float *loudness, GLOBAL const float *autocorrelation,
                      GLOBAL const float *weights, GLOBAL float *levels, GLOBAL float *cepstra) {
  float r[PLP_MOST_ORDER + 1], alpha[PLP_MOST_ORDER + 1];
  const uint32_t order = n->lpc_order;
  plp_spectrum(n, loudness, levels);
  for (uint32_t i = 0; i <= order; ++i) {
    float sum = 0;
    for (uint32_t m = 0; m < n->n_mel; ++m) sum += autocorrelation[i * n->n_mel + m] * levels[m];
    r[i] = sum;
  }
  const float error = plp_predictor(order, r, alpha);
  r[0] = fmax(fast_log(error), n->log_gain_floor);  // from here on r holds the cepstra
  for (uint32_t i = 1; i <= order; ++i) {
    float sum = 0;
    for (uint32_t j = 1; j < i; ++j) sum += (float)(i - j) * alpha[j] * r[i - j];
    r[i] = -alpha[i] - sum / (float)i;
  }
  for (uint32_t row = 0; row < n->n_ceps; ++row) {
    float sum = 0;
    for (uint32_t i = 0; i <= order; ++i) sum += weights[row * (order + 1) + i] * r[i];
    cepstra[row] = (int32_t)row == n->energy_row ? levels[n->n_mel] : sum;
  }
}

#endif

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_MFCC_PLP_H
