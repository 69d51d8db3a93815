// SPDX-License-Identifier: Apache-2.0
// Gaussians in plain FP32: score = constant - sum_i y_i^2, y_i = factor_i x_i - offset_i (diagonal, G1) or sum_{j >= i}
// factor_ij x_j - offset_i (full, G2), in base 2; double reference reference/gmm.cc. For GPUs without tensor cores, for
// Gaussians whose expanded form would cancel too much, and for the codebooks that states share.
//
// A warp takes one state (or four Gaussians) and 64 rows, two a lane. Its parameters are the same for all lanes, four
// Gaussians a load. Features lie in shared memory [dim][row], so that each load of them serves 8 or 16 fused
// operations. Floor: 2 D or D (D + 3) / 2 fused operations a Gaussian and row; two loads for 16 of them, or for 8 if
// full.
#include <cuda_fp16.h>

#include <type_traits>

#include "plugins/cuda/scores/gmm_launch.h"
#include "plugins/cuda/scores/mixture.cuh"

namespace asr::gpu {
namespace {

constexpr uint32_t kWarp = 32, kWarps = 4, kTileRows = 2 * kWarp;

// Loads x[dim][row], centred; rows beyond the last are zero.
__device__ void load_rows(const DirectModel &model, const GmmRows &rows, uint32_t first_row, float *x) {
  for (uint32_t i = threadIdx.x; i < model.n_dims * kTileRows; i += kWarps * kWarp) {
    const uint32_t d = i / kTileRows, row = first_row + i % kTileRows;
    const GmmDim dim = model.dims[d];
    x[i] = row < rows.n_rows ? rows.features[size_t{row} * rows.n_features + dim.dim] - dim.centre : 0;
  }
  __syncthreads();
}

struct Scores {
  float of[2][4];  // [row][Gaussian]
};

// Four numbers of a model.
template <bool kHalved>
using Four = std::conditional_t<kHalved, uint2, float4>;

__device__ __forceinline__ float4 load_four(const float4 *p) { return *p; }
__device__ __forceinline__ float4 load_four(const uint2 *p) {
  const uint2 words = *p;
  const float2 first = __half22float2(reinterpret_cast<const __half2 &>(words.x)),
               last = __half22float2(reinterpret_cast<const __half2 &>(words.y));
  return {first.x, first.y, last.x, last.y};
}

__device__ __forceinline__ float4 load_constants(const float4 *&p) { return *p++; }
__device__ __forceinline__ float4 load_constants(const uint2 *&p) {
  const float4 a = load_four(p++), b = load_four(p++);
  return {fmaxf(a.x + b.x, kLogZero), fmaxf(a.y + b.y, kLogZero), fmaxf(a.z + b.z, kLogZero), fmaxf(a.w + b.w, kLogZero)};
}

__device__ __forceinline__ void set(float (&y)[2][4], float4 v) {
#pragma unroll
  for (int r = 0; r < 2; ++r) y[r][0] = v.x, y[r][1] = v.y, y[r][2] = v.z, y[r][3] = v.w;
}
__device__ __forceinline__ void multiply_add(float (&y)[2][4], float4 factor, float2 x) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float xr = r == 0 ? x.x : x.y;
    y[r][0] = fmaf(factor.x, xr, y[r][0]);
    y[r][1] = fmaf(factor.y, xr, y[r][1]);
    y[r][2] = fmaf(factor.z, xr, y[r][2]);
    y[r][3] = fmaf(factor.w, xr, y[r][3]);
  }
}

// Scores four Gaussians on this lane's two rows.
template <bool kFull, bool kHalved>
__device__ Scores score_four(const DirectModel &model, size_t number, const float *x) {
  const uint32_t n_dims = model.n_dims;
  const Four<kHalved> *p =
      reinterpret_cast<const Four<kHalved> *>(model.fours) + number * direct_four_size(n_dims, kFull, kHalved);
  const float2 *const xs = reinterpret_cast<const float2 *>(x) + threadIdx.x % kWarp;  // dimension d is xs[d * kWarp]
  Scores scores;
  set(scores.of, load_constants(p));
  for (uint32_t i = 0; i < n_dims; ++i) {
    float y[2][4];
    set(y, load_four(p++));  // -offset
    const uint32_t end = kFull ? n_dims : i + 1;
#pragma unroll 4
    for (uint32_t j = i; j < end; ++j) multiply_add(y, load_four(p++), xs[j * kWarp]);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int k = 0; k < 4; ++k) scores.of[r][k] = fmaf(-y[r][k], y[r][k], scores.of[r][k]);
    }
  }
  return scores;
}

template <bool kFull, bool kHalved>
__global__ void __launch_bounds__(kWarps *kWarp)
    direct_states_kernel(DirectModel model, const DirectState *states, uint32_t n_states, GmmRows rows) {
  extern __shared__ float x[];
  const uint32_t first_row = blockIdx.y * kTileRows, row = first_row + 2 * (threadIdx.x % kWarp);
  load_rows(model, rows, first_row, x);
  for (uint32_t s = blockIdx.x * kWarps + threadIdx.x / kWarp; s < n_states; s += gridDim.x * kWarps) {
    const DirectState state = states[s];
    LogSum mixture[2];
    for (LogSum &sum : mixture) log_sum_clear(&sum);
    for (uint32_t four = 0; four < state.n_fours; ++four) {
      const Scores scores = score_four<kFull, kHalved>(model, size_t{state.first_four} + four, x);
#pragma unroll
      for (int r = 0; r < 2; ++r) log_sum_add(&mixture[r], scores.of[r]);
    }
#pragma unroll
    for (uint32_t r = 0; r < 2; ++r) {
      if (row + r < rows.n_rows) put(rows, row + r, state.state, log_sum_natural(mixture[r]));
    }
  }
}

template <bool kFull, bool kHalved>
__global__ void __launch_bounds__(kWarps *kWarp)
    direct_scores_kernel(DirectModel model, uint32_t n_fours, GmmRows rows, float *out) {
  extern __shared__ float x[];
  const uint32_t first_row = blockIdx.y * kTileRows, row = first_row + 2 * (threadIdx.x % kWarp);
  load_rows(model, rows, first_row, x);
  for (uint32_t four = blockIdx.x * kWarps + threadIdx.x / kWarp; four < n_fours; four += gridDim.x * kWarps) {
    const Scores scores = score_four<kFull, kHalved>(model, four, x);
#pragma unroll
    for (uint32_t r = 0; r < 2; ++r) {
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        if (row + r < rows.n_rows) out[size_t{4 * four + k} * rows.n_rows + row + r] = scores.of[r][k];
      }
    }
  }
}

constexpr uint32_t kMaxBlocks = 4096;

dim3 grid_of(uint32_t n_items, uint32_t n_rows) {
  const uint32_t n_blocks = (n_items + kWarps - 1) / kWarps;
  return dim3(n_blocks < kMaxBlocks ? n_blocks : kMaxBlocks, (n_rows + kTileRows - 1) / kTileRows);
}

}  // namespace

void launch_direct_states(const DirectModel &model, const DirectState *states, uint32_t n_states, const GmmRows &rows,
                          cudaStream_t stream) {
  const auto kernel = model.full     ? (model.halved ? direct_states_kernel<true, true> : direct_states_kernel<true, false>)
                      : model.halved ? direct_states_kernel<false, true>
                                     : direct_states_kernel<false, false>;
  const size_t shared_bytes = size_t{model.n_dims} * kTileRows * sizeof(float);
  kernel<<<grid_of(n_states, rows.n_rows), kWarps * kWarp, shared_bytes, stream>>>(model, states, n_states, rows);
}

void launch_direct_scores(const DirectModel &model, uint32_t n_fours, const GmmRows &rows, float *scores, cudaStream_t stream) {
  const auto kernel = model.full     ? (model.halved ? direct_scores_kernel<true, true> : direct_scores_kernel<true, false>)
                      : model.halved ? direct_scores_kernel<false, true>
                                     : direct_scores_kernel<false, false>;
  const size_t shared_bytes = size_t{model.n_dims} * kTileRows * sizeof(float);
  kernel<<<grid_of(n_fours, rows.n_rows), kWarps * kWarp, shared_bytes, stream>>>(model, n_fours, rows, scores);
}

}  // namespace asr::gpu
