// SPDX-License-Identifier: Apache-2.0
// What both MFCC kernels do alike: finding a frame's samples, and F5 and F6 for one frame of a lane (V = float) or two
// (float2).
#pragma once

#include <cuda_runtime.h>

#include "plugins/cuda/kernels/mfcc.h"

namespace asr::cuda {

// Where a frame comes from and goes to.
struct Lane {
  const float *samples;
  uint64_t number;
  uint32_t row, first_output, n_outputs;  // row: of its jobs' cepstra
};

__device__ __forceinline__ Lane find_lane(const MfccTables &t, const MfccBatch &batch, uint32_t lane) {
  uint32_t low = 0, high = batch.n_frames_entries;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (batch.frames[middle].first_lane <= lane ? low : high) = middle;
  }
  const MfccFrames frames = batch.frames[low];
  const uint32_t row = lane - frames.first_lane;
  return {batch.samples + frames.first_sample + size_t{row} * t.shift_samples, frames.number + row, row, frames.first_output,
          frames.n_outputs};
}

__device__ __forceinline__ float square_root(float v) {
  float result;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}

__device__ __forceinline__ void add_product(float w, float v, float *sum) { *sum += w * v; }
__device__ __forceinline__ void add_product(float w, float2 v, float2 *sum) { sum->x += w * v.x, sum->y += w * v.y; }
__device__ __forceinline__ float sum_of(float a, float b) { return a + b; }
__device__ __forceinline__ float2 sum_of(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }

// F5: one band of the spectrum, from bin[0] on.
template <typename V>
__device__ __forceinline__ V band_energy(const float4 *weights, uint32_t n_fours, const V *bin, uint32_t stride) {
  V sum[2] = {};
#pragma unroll 1
  for (uint32_t i = 0; i < n_fours; ++i, bin += 4 * stride) {
    const float4 w = weights[i];
    add_product(w.x, bin[0], &sum[0]);
    add_product(w.y, bin[stride], &sum[1]);
    add_product(w.z, bin[2 * stride], &sum[0]);
    add_product(w.w, bin[3 * stride], &sum[1]);
  }
  return sum_of(sum[0], sum[1]);
}

// F6.
__device__ __forceinline__ float logarithm(const MfccTables &t, float energy) {
  return __logf(fmaxf(energy, t.log_floor) + t.log_add);
}
__device__ __forceinline__ float2 logarithm(const MfccTables &t, float2 energy) {
  return {logarithm(t, energy.x), logarithm(t, energy.y)};
}

}  // namespace asr::cuda
