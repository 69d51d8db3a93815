// SPDX-License-Identifier: Apache-2.0
// The noise of asr_features_view.dither (F1 of docs/equations.md): a pure function of integers, so that every back end and
// every run adds the same.
#ifndef SENONE_KERNELS_DITHER_H
#define SENONE_KERNELS_DITHER_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

// Mixes all bits of x into all bits of the result (a bijection).
DEVICE uint64_t mix_bits(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53u;
  x ^= x >> 33;
  return x;
}

// Returns nearly normal noise of mean 0 and deviation 1: the sum of four uniform 16-bit numbers, centred and scaled.
DEVICE float dither_noise(uint32_t seed, uint64_t frame, uint32_t sample) {
  const uint64_t bits = mix_bits(mix_bits(frame + ((uint64_t)seed << 32)) + sample);
  const int32_t sum = (int32_t)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
  return (float)(sum - 2 * 65535) * 2.64289e-5f;  // sqrt(3) / 65536
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_DITHER_H
