// SPDX-License-Identifier: Apache-2.0
// Gaussians in FP32 for AMD: score = constant - sum_i y_i^2, y_i = factor_i x_i - offset_i (diagonal, G1) or sum_{j >= i}
// factor_ij x_j - offset_i (full, G2), in base 2; double reference tests/reference/gmm.cc, tolerance 2e-3 of a log-likelihood.
//
// The design of papers 000 and 001 for this vendor, brought to wide registers: a work-group is 64 lanes, a lane has four
// Gaussians of its own and 8 rows. Model data go from memory to registers, 16 bytes a lane and 1 KiB in a row for the group;
// none of it is in local memory. Rows are the same for all lanes, so that they come by scalar loads (tiles of gmm_rows.cl), 8
// values of a dimension at once. The body is 4 Gaussians x 4 dimensions x 8 rows; pairs of Gaussians are float2, which CDNA
// multiplies and adds in one packed instruction. PARTS lanes share a state and bring their sums together in local memory.
// Floor: 2 D or D (D + 3) / 2 fused operations a Gaussian and row.
//   -D FULL=0 or 1, LANES=GROUP_SIZE=..., PARTS=..., TILE_ROWS=8
#include "plugins/common/ocl/kernels/gmm_types.h"
#include "plugins/common/ocl/kernels/mixture.h"

typedef struct Pairs {
  float2 low[TILE_ROWS], high[TILE_ROWS];  // [row]: Gaussians 0 and 1, 2 and 3 of the four
} Pairs;

inline void set(Pairs *y, float4 v) {
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) y->low[r] = v.lo, y->high[r] = v.hi;
}

inline void multiply_add(Pairs *y, float4 factor, __global const float *restrict x) {
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) {
    y->low[r] = fma(factor.lo, (float2)(x[r]), y->low[r]);
    y->high[r] = fma(factor.hi, (float2)(x[r]), y->high[r]);
  }
}

inline void subtract_squares(Pairs *score, const Pairs *y) {
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) {
    score->low[r] = fma(-y->low[r], y->low[r], score->low[r]);
    score->high[r] = fma(-y->high[r], y->high[r], score->high[r]);
  }
}

// This lane's four Gaussians at p[q * LANES], all rows of a tile x[dim][row].
inline void score_four(__global const float4 *restrict p, uint n_dims, __global const float *restrict x, Pairs *score) {
  Pairs y;
  set(score, *p);
  p += LANES;
#if FULL
  for (uint i = 0; i < n_dims; ++i) {
    set(&y, *p);  // -offset
    p += LANES;
#pragma unroll 4
    for (uint j = i; j < n_dims; ++j, p += LANES) multiply_add(&y, *p, x + j * TILE_ROWS);
    subtract_squares(score, &y);
  }
#else
#pragma unroll 4
  for (uint i = 0; i < n_dims; ++i, p += 2 * LANES) {
    set(&y, p[0]);
    multiply_add(&y, p[LANES], x + i * TILE_ROWS);
    subtract_squares(score, &y);
  }
#endif
}

inline uint four_size(uint n_dims) { return 1 + n_dims + (FULL ? n_dims * (n_dims + 1) / 2 : n_dims); }

// scores[row][state] of states that have their Gaussians for themselves.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_states(
    __global const float4 *restrict fours, __global const GmmBlock *restrict blocks, __global const uint *restrict states,
    __global const float *restrict tiles, uint n_dims, uint n_rows, __global float *restrict scores, uint n_states, uint add,
    __local float2 *parts) {
  const uint lane = get_local_id(0), block_states = LANES / PARTS;
  const GmmBlock block = blocks[get_group_id(0)];
  __global const float *const x = tiles + (size_t)get_group_id(1) * n_dims * TILE_ROWS;
  LogSum mixture[TILE_ROWS];
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) log_sum_clear(&mixture[r]);
  for (uint round = 0; round < block.n_rounds; ++round) {
    Pairs score;
    score_four(fours + (size_t)(block.first_round + round) * four_size(n_dims) * LANES + lane, n_dims, x, &score);
#pragma unroll
    for (uint r = 0; r < TILE_ROWS; ++r) log_sum_add(&mixture[r], (float4)(score.low[r], score.high[r]));
  }
#if PARTS > 1
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) parts[r * LANES + lane] = (float2)(mixture[r].reference, mixture[r].sum);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  // Row and state of a lane change places with its part, so that all lanes store.
  const uint state = states[get_group_id(0) * block_states + lane % block_states];
  if (state >= n_states) return;
  const uint first_row = get_group_id(1) * TILE_ROWS;
#pragma unroll
  for (uint i = 0; i < TILE_ROWS / PARTS; ++i) {
#if PARTS > 1
    const uint r = lane / block_states + i * PARTS;
    LogSum sum;
    log_sum_clear(&sum);
    for (uint part = 0; part < PARTS; ++part) {
      const float2 other = parts[r * LANES + part * block_states + lane % block_states];
      const LogSum one = {other.x, other.y};
      log_sum_merge(&sum, one);
    }
#else
    const uint r = i;
    const LogSum sum = mixture[i];
#endif
    if (first_row + r < n_rows) {
      put_score(scores + (size_t)(first_row + r) * n_states + state, log_sum_natural(sum), add);
    }
  }
}

// scores[Gaussian][row] of the codebooks that states share.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_gaussians(
    __global const float4 *restrict fours, uint n_fours, __global const float *restrict tiles, uint n_dims, uint n_rows,
    __global float *restrict scores) {
  const uint lane = get_local_id(0), four = get_group_id(0) * LANES + lane, first_row = get_group_id(1) * TILE_ROWS;
  Pairs score;
  score_four(fours + (size_t)get_group_id(0) * four_size(n_dims) * LANES + lane, n_dims,
             tiles + (size_t)get_group_id(1) * n_dims * TILE_ROWS, &score);
  if (four >= n_fours) return;
  __global float *const out = scores + (size_t)4 * four * n_rows + first_row;
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) {
    if (first_row + r >= n_rows) break;
    out[r] = score.low[r].x;
    out[n_rows + r] = score.low[r].y;
    out[2 * (size_t)n_rows + r] = score.high[r].x;
    out[3 * (size_t)n_rows + r] = score.high[r].y;
  }
}
