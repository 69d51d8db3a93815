// SPDX-License-Identifier: Apache-2.0
// Both MFCC kernels read the front end's numbers and find a frame's segment here. GPUs have the numbers compiled in (-D
// WINDOW_SAMPLES=...). Elsewhere they come from the kernel's options `o`.
#include "plugins/common/kernels/mfcc_stages.h"
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
