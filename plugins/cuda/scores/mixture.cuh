// SPDX-License-Identifier: Apache-2.0
// The log-sum-exp of CUDA's scoring kernels: terms in order, and the rows of a warp as tensor cores spread them.
#pragma once

#include "plugins/cuda/scores/gmm_launch.h"
#include "plugins/gpu/scores/log_sum-inl.h"

namespace asr::gpu {

template <int kN>
__device__ __forceinline__ void log_sum_add(LogSum *sum, const float (&v)[kN]) {
  float top = v[0];
#pragma unroll
  for (int i = 1; i < kN; ++i) top = fmaxf(top, v[i]);
  log_sum_refer(sum, top);
  float terms = fast_exp2(v[0] - sum->reference);
#pragma unroll
  for (int i = 1; i < kN; ++i) terms += fast_exp2(v[i] - sum->reference);
  sum->sum += terms;
}

// Brings the sums of the 4 lanes of a quad together; all lanes of the warp take part.
__device__ __forceinline__ void log_sum_merge_quad(LogSum *sum) {
  float top = fmaxf(sum->reference, __shfl_xor_sync(0xffffffffu, sum->reference, 1));
  top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
  sum->sum *= fast_exp2(sum->reference - top);
  sum->sum += __shfl_xor_sync(0xffffffffu, sum->sum, 1);
  sum->sum += __shfl_xor_sync(0xffffffffu, sum->sum, 2);
  sum->reference = top;
}

// Brings four sums of the 4 lanes of a quad together, of which lane q returns the q-th, with the bits of log_sum_merge_quad().
// All lanes of the warp take part.
__device__ __forceinline__ LogSum log_sum_merge_four(const LogSum (&of)[4]) {
  const bool odd = threadIdx.x % 2 != 0, high = threadIdx.x % 4 >= 2;
  const auto chosen = [](bool second, LogSum a, LogSum b) {
    return LogSum{second ? b.reference : a.reference, second ? b.sum : a.sum};
  };
  const auto from = [](LogSum sum, int distance) {
    return LogSum{__shfl_xor_sync(0xffffffffu, sum.reference, distance), __shfl_xor_sync(0xffffffffu, sum.sum, distance)};
  };
  const LogSum low[2] = {chosen(odd, of[0], of[1]), chosen(odd, of[1], of[0])};
  const LogSum up[2] = {chosen(odd, of[2], of[3]), chosen(odd, of[3], of[2])};
  // A lane sends to its neighbour what the neighbour returns.
  const LogSum own = chosen(high, low[0], up[0]), one = from(chosen(high, low[1], up[1]), 1),
               two = from(chosen(high, up[0], low[0]), 2), three = from(chosen(high, up[1], low[1]), 3);
  const float top = fmaxf(fmaxf(own.reference, one.reference), fmaxf(two.reference, three.reference));
  const auto scaled = [&](LogSum sum) { return __fmul_rn(sum.sum, fast_exp2(sum.reference - top)); };
  return {top, (scaled(own) + scaled(one)) + (scaled(two) + scaled(three))};
}

__device__ __forceinline__ void put(const GmmRows &rows, uint32_t row, uint32_t state, float score) {
  put_score(rows.scores + size_t{row} * rows.n_states + state, score, rows.add);
}

// The log sums of a warp's rows in a tensor-core kernel: four lanes a row, two columns a lane, as mma spreads them.
template <int kTiles>
struct RowLogSums {
  LogSum of[kTiles][2];

  __device__ __forceinline__ RowLogSums() { clear(); }
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int half = 0; half < 2; ++half) log_sum_clear(&of[t][half]);
    }
  }
  // Adds the next 8 Gaussians: d as mma leaves it.
  __device__ __forceinline__ void add(const float (&d)[kTiles][4], const float (&scale)[kTiles][2], float2 constant) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        log_sum_add(&of[t][half],
                    {fmaf(d[t][2 * half], scale[t][half], constant.x), fmaf(d[t][2 * half + 1], scale[t][half], constant.y)});
      }
    }
  }
  // Ends a state: merges the lanes of a row and stores the state's score.
  __device__ __forceinline__ void store(const GmmRows &rows, uint32_t first_row, uint32_t state) {
    const uint32_t lane = threadIdx.x % 32, q = lane % 4;
    float score = 0;  // lane q of a quad stores the q-th of its rows
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        log_sum_merge_quad(&of[t][half]);
        const float natural = log_sum_natural(of[t][half]);
        score = q == 2 * t + half ? natural : score;
      }
    }
    clear();
    const uint32_t row = first_row + 8 * q + lane / 4;
    if (q < 2 * kTiles && row < rows.n_rows) put(rows, row, state, score);
  }
};

}  // namespace asr::gpu
