// SPDX-License-Identifier: Apache-2.0
// Gaussians in FP32 for NVIDIA: score = constant - sum_i y_i^2, y_i = factor_i x_i - offset_i (diagonal, G1) or sum_{j
// >= i} factor_ij x_j - offset_i (full, G2), in base 2. Double reference: reference/gmm.cc, tolerance 2e-3 of a
// log-likelihood.
//
// A warp of 32 takes one state (or four Gaussians) and TILE_ROWS rows, LANE_ROWS a lane. Its parameters are the same for all
// lanes, four Gaussians a load (LANES = PARTS = DIMS = 1 of gmm_types.h); features lie in local memory [dim][row]. A load of
// parameters serves 4 LANE_ROWS fused operations, one of features 4 FACTOR_ROWS LANE_ROWS. More rows a lane are faster,
// as long as there are so many. Floor: 2 D or D (D + 3) / 2 fused operations a Gaussian and row.
//   -D FULL=0 or 1, HALVED=0 or 1, GROUP_SIZE=..., TILE_ROWS=32, 64 or 128, FACTOR_ROWS=..., LOCAL_DIMS=... (at least n_dims)
#include "plugins/ocl/scores/gmm_fours.clh"
#include "plugins/ocl/scores/mixture.clh"

#define WARP 32
#define WARPS (GROUP_SIZE / WARP)
#define LANE_ROWS (TILE_ROWS / WARP)

#if LANE_ROWS == 4
typedef float4 RowValues;
#elif LANE_ROWS == 2
typedef float2 RowValues;
#else
typedef float RowValues;
#endif

// [row of the lane], four Gaussians
typedef struct Scores {
  float4 of[LANE_ROWS];
} Scores;

// Loads x[dim][row], centred; rows beyond the last are zero.
static inline void load_rows(__global const float *features, uint n_rows, uint n_features, __global const GmmDim *dims,
                             uint n_dims, uint first_row, __local float *x) {
  for (uint i = get_local_id(0); i < n_dims * TILE_ROWS; i += GROUP_SIZE) {
    const uint row = first_row + i % TILE_ROWS;
    const GmmDim dim = dims[i / TILE_ROWS];
    x[i] = row < n_rows ? features[(size_t)row * n_features + dim.dim] - dim.centre : 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

static inline void set(Scores *y, float4 v) {
#pragma unroll
  for (uint r = 0; r < LANE_ROWS; ++r) y->of[r] = v;
}

static inline void multiply_add(Scores *y, float4 factor, RowValues x) {
#if LANE_ROWS == 1
  y->of[0] = fma(factor, x, y->of[0]);
#else
  y->of[0] = fma(factor, x.s0, y->of[0]);
  y->of[1] = fma(factor, x.s1, y->of[1]);
#endif
#if LANE_ROWS == 4
  y->of[2] = fma(factor, x.s2, y->of[2]);
  y->of[3] = fma(factor, x.s3, y->of[3]);
#endif
}

static inline void subtract_squares(Scores *score, const Scores *y) {
#pragma unroll
  for (uint r = 0; r < LANE_ROWS; ++r) score->of[r] = fma(-y->of[r], y->of[r], score->of[r]);
}

// Scores four Gaussians on this lane's rows.
static inline void score_four(__global const Four *restrict p, uint n_dims, __local const RowValues *x, Scores *score) {
  __local const RowValues *const xs = x + get_local_id(0) % WARP;  // dimension d is xs[d * WARP]
  set(score, load_constants(p, 1));
  p += CONSTANT_FOURS;
#if FULL
  for (uint i = 0; i < n_dims; i += FACTOR_ROWS) {
    Scores y[FACTOR_ROWS];
#pragma unroll
    for (uint k = 0; k < FACTOR_ROWS; ++k) set(&y[k], load_four(p++));  // -offset
#pragma unroll 4
    for (uint j = i; j < n_dims; ++j, p += FACTOR_ROWS) {
      const RowValues v = xs[j * WARP];
#pragma unroll
      for (uint k = 0; k < FACTOR_ROWS; ++k) multiply_add(&y[k], load_four(p + k), v);
    }
#pragma unroll
    for (uint k = 0; k < FACTOR_ROWS; ++k) subtract_squares(score, &y[k]);
  }
#else
#pragma unroll 4
  for (uint i = 0; i < n_dims; ++i, p += 2) {
    Scores y;
    set(&y, load_four(p));
    multiply_add(&y, load_four(p + 1), xs[i * WARP]);
    subtract_squares(score, &y);
  }
#endif
}

// Computes scores[row][state] of states with codebooks of their own.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_states(
    __global const Four *restrict fours, __global const GmmBlock *restrict blocks, uint n_blocks,
    __global const uint *restrict states, __global const float *restrict features, uint n_rows, uint n_features,
    __global const GmmDim *restrict dims, uint n_dims, uint four_size, __global float *restrict scores, uint n_states,
    uint add) {
  __local RowValues x[LOCAL_DIMS * WARP];
  const uint first_row = get_group_id(1) * TILE_ROWS, row = first_row + LANE_ROWS * (get_local_id(0) % WARP);
  load_rows(features, n_rows, n_features, dims, n_dims, first_row, (__local float *)x);
  const uint number = get_group_id(0) * WARPS + get_local_id(0) / WARP;
  if (number >= n_blocks) return;
  const GmmBlock block = blocks[number];
  LogSum mixture[LANE_ROWS];
  for (uint r = 0; r < LANE_ROWS; ++r) log_sum_clear(&mixture[r]);
  for (uint four = 0; four < block.n_rounds; ++four) {
    Scores s;
    score_four(fours + (size_t)(block.first_round + four) * four_size, n_dims, x, &s);
    for (uint r = 0; r < LANE_ROWS; ++r) log_sum_add(&mixture[r], s.of[r]);
  }
  for (uint r = 0; r < LANE_ROWS; ++r) {
    if (row + r < n_rows) {
      put_score(scores + (size_t)(row + r) * n_states + states[number], log_sum_natural(mixture[r]), add);
    }
  }
}

// Computes scores[Gaussian][row] of the codebooks that states share.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_gaussians(
    __global const Four *restrict fours, uint n_fours, __global const float *restrict features, uint n_rows, uint n_features,
    __global const GmmDim *restrict dims, uint n_dims, uint four_size, __global float *restrict scores) {
  __local RowValues x[LOCAL_DIMS * WARP];
  const uint first_row = get_group_id(1) * TILE_ROWS, row = first_row + LANE_ROWS * (get_local_id(0) % WARP);
  load_rows(features, n_rows, n_features, dims, n_dims, first_row, (__local float *)x);
  const uint four = get_group_id(0) * WARPS + get_local_id(0) / WARP;
  if (four >= n_fours) return;
  Scores s;
  score_four(fours + (size_t)four * four_size, n_dims, x, &s);
  for (uint r = 0; r < LANE_ROWS && row + r < n_rows; ++r) {
    __global float *const out = scores + (size_t)4 * four * n_rows + row + r;
    out[0] = s.of[r].x;
    out[n_rows] = s.of[r].y;
    out[2 * (size_t)n_rows] = s.of[r].z;
    out[3 * (size_t)n_rows] = s.of[r].w;
  }
}
