// SPDX-License-Identifier: Apache-2.0
// The steps of F3 and F6 of docs/equations.md that all MFCC kernels take alike, for one frame.
#ifndef SENONE_KERNELS_MFCC_STAGES_H
#define SENONE_KERNELS_MFCC_STAGES_H

#include "plugins/gpu/features/fft-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

DEVICE float power_of(float2 x) { return x.x * x.x + x.y * x.y; }

// Returns, for F3, the powers of bins k and n - k of a frame of 2 n samples. `even` and `odd` are the values at k of the
// transforms of its even and its odd samples, `root` is exp(-i pi k / n): X[k] = E + root O, X[n-k] = conj(E - root O).
DEVICE float2 powers_of_pair(float2 even, float2 odd, float2 root) {
  const float2 turned = times(odd, root), x = even + turned, y = even - turned;
  return make_float2(power_of(x), power_of(y));
}

// Returns F6 of the energy of a band.
DEVICE float log_of_band(float energy, float log_floor, float log_add) { return fast_log(fmax(energy, log_floor) + log_add); }

// Returns the log energy of a frame, which replaces a cepstrum.
DEVICE float log_of_energy(float energy, float log_floor) { return fast_log(fmax(energy, log_floor)); }

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_MFCC_STAGES_H
