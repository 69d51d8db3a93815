// SPDX-License-Identifier: Apache-2.0
// Gaussians in FP32 for NVIDIA: score = constant - sum_i y_i^2, y_i = factor_i x_i - offset_i (diagonal, G1) or sum_{j >= i}
// factor_ij x_j - offset_i (full, G2), in base 2; double reference tests/reference/gmm.cc, tolerance 2e-3 of a log-likelihood.
//
// A warp of 32 takes one state (or four Gaussians) and 64 rows, two a lane. Its parameters are the same for all lanes, four
// Gaussians a load (LANES = PARTS = 1 of gmm_types.h); features lie in local memory [dim][row], so that each load of them serves
// 8 or 16 fused operations. Floor: 2 D or D (D + 3) / 2 fused operations a Gaussian and row.
//   -D FULL=0 or 1, GROUP_SIZE=..., TILE_ROWS=64; local memory: n_dims * 64 floats
#include "plugins/common/ocl/kernels/gmm_types.h"
#include "plugins/common/ocl/kernels/mixture.h"

#define WARP 32
#define WARPS (GROUP_SIZE / WARP)

// x[dim][row], centred; rows beyond the last are zero.
inline void load_rows(__global const float *features, uint n_rows, uint n_features, __global const GmmDim *dims, uint n_dims,
                      uint first_row, __local float *x) {
  for (uint i = get_local_id(0); i < n_dims * TILE_ROWS; i += GROUP_SIZE) {
    const uint row = first_row + i % TILE_ROWS;
    const GmmDim dim = dims[i / TILE_ROWS];
    x[i] = row < n_rows ? features[(size_t)row * n_features + dim.dim] - dim.centre : 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

typedef struct Scores {
  float4 of[2];  // [row], four Gaussians
} Scores;

// Four Gaussians, this lane's two rows.
inline Scores score_four(__global const float4 *restrict p, uint n_dims, __local const float *x) {
  __local const float2 *const xs = (__local const float2 *)x + get_local_id(0) % WARP;  // of dimension d: xs[d * WARP]
  Scores scores;
  scores.of[0] = scores.of[1] = *p++;
#if FULL
  for (uint i = 0; i < n_dims; ++i) {
    float4 y0 = *p++, y1 = y0;  // -offset
#pragma unroll 4
    for (uint j = i; j < n_dims; ++j) {
      const float4 factor = *p++;
      const float2 v = xs[j * WARP];
      y0 = fma(factor, v.x, y0);
      y1 = fma(factor, v.y, y1);
    }
    scores.of[0] = fma(-y0, y0, scores.of[0]);
    scores.of[1] = fma(-y1, y1, scores.of[1]);
  }
#else
#pragma unroll 4
  for (uint i = 0; i < n_dims; ++i) {
    const float4 offset = p[0], factor = p[1];
    const float2 v = xs[i * WARP];
    p += 2;
    const float4 y0 = fma(factor, v.x, offset), y1 = fma(factor, v.y, offset);
    scores.of[0] = fma(-y0, y0, scores.of[0]);
    scores.of[1] = fma(-y1, y1, scores.of[1]);
  }
#endif
  return scores;
}

inline uint four_size(uint n_dims) { return 1 + n_dims + (FULL ? n_dims * (n_dims + 1) / 2 : n_dims); }

// scores[row][state] of states that have their Gaussians for themselves.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_states(
    __global const float4 *restrict fours, __global const GmmBlock *restrict blocks, uint n_blocks,
    __global const uint *restrict states, __global const float *restrict features, uint n_rows, uint n_features,
    __global const GmmDim *restrict dims, uint n_dims, __global float *restrict scores, uint n_states, uint add,
    __local float *x) {
  const uint first_row = get_group_id(1) * TILE_ROWS, row = first_row + 2 * (get_local_id(0) % WARP);
  load_rows(features, n_rows, n_features, dims, n_dims, first_row, x);
  const uint number = get_group_id(0) * WARPS + get_local_id(0) / WARP;
  if (number >= n_blocks) return;
  const GmmBlock block = blocks[number];
  LogSum mixture[2];
  for (uint r = 0; r < 2; ++r) log_sum_clear(&mixture[r]);
  for (uint four = 0; four < block.n_rounds; ++four) {
    const Scores s = score_four(fours + (size_t)(block.first_round + four) * four_size(n_dims), n_dims, x);
    for (uint r = 0; r < 2; ++r) log_sum_add(&mixture[r], s.of[r]);
  }
  for (uint r = 0; r < 2; ++r) {
    if (row + r < n_rows) {
      put_score(scores + (size_t)(row + r) * n_states + states[number], log_sum_natural(mixture[r]), add);
    }
  }
}

// scores[Gaussian][row] of the codebooks that states share.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_gaussians(
    __global const float4 *restrict fours, uint n_fours, __global const float *restrict features, uint n_rows, uint n_features,
    __global const GmmDim *restrict dims, uint n_dims, __global float *restrict scores, __local float *x) {
  const uint first_row = get_group_id(1) * TILE_ROWS, row = first_row + 2 * (get_local_id(0) % WARP);
  load_rows(features, n_rows, n_features, dims, n_dims, first_row, x);
  const uint four = get_group_id(0) * WARPS + get_local_id(0) / WARP;
  if (four >= n_fours) return;
  const Scores s = score_four(fours + (size_t)four * four_size(n_dims), n_dims, x);
  for (uint r = 0; r < 2 && row + r < n_rows; ++r) {
    __global float *const out = scores + (size_t)4 * four * n_rows + row + r;
    out[0] = s.of[r].x;
    out[n_rows] = s.of[r].y;
    out[2 * (size_t)n_rows] = s.of[r].z;
    out[3 * (size_t)n_rows] = s.of[r].w;
  }
}
