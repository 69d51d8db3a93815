// SPDX-License-Identifier: Apache-2.0
// Log-sum-exp in base 2 (G3), in registers: what ends every scoring kernel.
#pragma once

#include <cuda_runtime.h>

#include "plugins/cuda/kernels/gmm.h"

namespace asr::cuda {

constexpr float kLn2 = 0.69314718f;

__device__ __forceinline__ float exp2_fast(float v) {  // within 2^-22 of its value; 0 for -inf
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}
__device__ __forceinline__ float log2_fast(float v) {
  float result;
  asm("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}

// log2 of a sum of powers of 2: sum * 2^reference. The reference follows the terms only when they leave it far behind, so a
// term costs one exponential.
struct LogSum {
  static constexpr float kRoom = 100;  // 2^100 times many terms is still a float
  float reference = kLogZero, sum = 0;

  template <int kN>
  __device__ __forceinline__ void add(const float (&v)[kN]) {
    float top = v[0];
#pragma unroll
    for (int i = 1; i < kN; ++i) top = fmaxf(top, v[i]);
    if (top > reference + kRoom) {
      sum *= exp2_fast(reference - top);
      reference = top;
    }
    float terms = exp2_fast(v[0] - reference);
#pragma unroll
    for (int i = 1; i < kN; ++i) terms += exp2_fast(v[i] - reference);
    sum += terms;
  }
  // Brings the sums of the 4 lanes of a quad together; all lanes of the warp take part.
  __device__ __forceinline__ void merge_quad() {
    float top = fmaxf(reference, __shfl_xor_sync(0xffffffffu, reference, 1));
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
    sum *= exp2_fast(reference - top);
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    reference = top;
  }
  // The natural logarithm.
  __device__ __forceinline__ float natural() const { return (reference + log2_fast(sum)) * kLn2; }
};

__device__ __forceinline__ void put(const GmmRows &rows, uint32_t row, uint32_t state, float score) {
  float *const out = rows.scores + size_t{row} * rows.n_states + state;
  *out = rows.add ? *out + score : score;
}

// The log sums of a warp's rows in a tensor-core kernel: four lanes a row, two columns a lane, as mma spreads them.
template <int kTiles>
struct RowLogSums {
  LogSum of[kTiles][2];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int half = 0; half < 2; ++half) of[t][half].reference = kLogZero, of[t][half].sum = 0;
    }
  }
  // The next 8 Gaussians: d as mma leaves it.
  __device__ __forceinline__ void add(const float (&d)[kTiles][4], const float (&scale)[kTiles][2], float2 constant) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        of[t][half].add(
            {fmaf(d[t][2 * half], scale[t][half], constant.x), fmaf(d[t][2 * half + 1], scale[t][half], constant.y)});
      }
    }
  }
  // The end of a state: the lanes of a row come together, and the state's score is stored.
  __device__ __forceinline__ void store(const GmmRows &rows, uint32_t first_row, uint32_t state) {
    const uint32_t lane = threadIdx.x % 32, q = lane % 4;
    float score = 0;  // lane q of a quad stores the q-th of its rows
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        of[t][half].merge_quad();
        const float natural = of[t][half].natural();
        score = q == 2 * t + half ? natural : score;
      }
    }
    clear();
    const uint32_t row = first_row + 8 * q + lane / 4;
    if (q < 2 * kTiles && row < rows.n_rows) put(rows, row, state, score);
  }
};

}  // namespace asr::cuda
