// SPDX-License-Identifier: Apache-2.0
// What both MFCC kernels do alike: the front end's numbers, finding a frame's segment, and F5 and F6. For GPUs these numbers
// are compiled in (-D WINDOW_SAMPLES=...); where they are not, they are read from the kernel's options `o`.
#include "plugins/common/ocl/kernels/mfcc_types.h"

#ifndef WINDOW_SAMPLES
#define WINDOW_SAMPLES o->window_samples
#define SHIFT_SAMPLES o->shift_samples
#define N_MEL o->n_mel
#define N_CEPS o->n_ceps
#define DC_REMOVAL o->dc_removal
#define ENERGY o->energy
#define MAGNITUDE o->magnitude
#endif

#define DC_BEFORE 1  // asr_dc_removal
#define DC_AFTER 2
#define ENERGY_RAW 1  // before the window
#define ENERGY_WINDOWED 2

// Segment of a lane; lanes beyond the last frame repeat it and are not stored.
static inline uint segment_of(__global const MfccSegment *segments, MfccGroup group, uint lane) {
  uint s = group.first_segment;
  while (s + 1 < group.first_segment + group.n_segments && lane >= segments[s + 1].first_lane) ++s;
  return s;
}

// F5, F6 of one band and frame, whose bins are power[k * pitch].
static inline float log_band(__constant MfccOptions *o, MfccBand band, __global const float4 *weights,
                             __local const float *power, uint pitch) {
  __local const float *bin = power + band.first_bin * pitch;
  float2 sum = (float2)(0);
#pragma unroll 2
  for (uint i = 0; i < band.n_fours; ++i, bin += 4 * pitch) {
    const float4 w = weights[band.first_four + i];
    sum += w.lo * (float2)(bin[0], bin[pitch]);
    sum += w.hi * (float2)(bin[2 * pitch], bin[3 * pitch]);
  }
  return native_log(fmax(sum.x + sum.y, o->log_floor) + o->log_add);
}
