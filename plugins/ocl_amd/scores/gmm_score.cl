// SPDX-License-Identifier: Apache-2.0
// Gaussians in FP32 for AMD: score = constant - sum_i y_i^2, y_i = factor_i x_i - offset_i (diagonal, G1) or sum_{j >=
// i} factor_ij x_j - offset_i (full, G2), in base 2. Double reference: reference/gmm.cc, tolerance 2e-3 of a
// log-likelihood.
//
// The design of papers 000 and 001 for this vendor, brought to wide registers. A work-group is 64 lanes, and a lane has
// four Gaussians of its own and 8 rows. Model data go from memory to registers, 16 bytes a lane and 1 KiB in a row for
// the group. Local memory holds none of them. Rows are the same for all lanes, so that they come by scalar loads (tiles
// of gmm_rows.cl). The body is 4 Gaussians x 4 dimensions x 8 rows. Pairs of Gaussians are float2, and tiles hold each
// feature twice, so that CDNA multiplies and adds pairs in one packed instruction without moves. PARTS lanes share a
// state and bring their sums together in local memory. Floor: 2 D or D (D + 3) / 2 fused operations a Gaussian and row,
// dimensions in fours.
//   -D FULL=0 or 1, HALVED=0 or 1, LANES=GROUP_SIZE=..., PARTS=..., TILE_ROWS=8, DIMS=4, FACTOR_ROWS=1 or 2
#include "plugins/ocl/scores/gmm_fours.clh"
#include "plugins/ocl/scores/mixture.clh"

// [pair of Gaussians of the four][row]
typedef struct Scores {
  float2 of[2][TILE_ROWS];
} Scores;

static inline void set(Scores *y, float4 v) {
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) y->of[0][r] = v.lo, y->of[1][r] = v.hi;
}

static inline void multiply_add(Scores *y, float4 factor, __global const float2 *restrict x) {
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) {
    y->of[0][r] = fma(factor.lo, x[r], y->of[0][r]);
    y->of[1][r] = fma(factor.hi, x[r], y->of[1][r]);
  }
}

static inline void subtract_squares(Scores *score, const Scores *y) {
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) {
    score->of[0][r] = fma(-y->of[0][r], y->of[0][r], score->of[0][r]);
    score->of[1][r] = fma(-y->of[1][r], y->of[1][r], score->of[1][r]);
  }
}

// Scores this lane's four Gaussians at p[q * LANES] on all rows of a tile x[dim][row].
static inline void score_four(__global const Four *restrict p, uint n_dims, __global const float2 *restrict x, Scores *score) {
  set(score, load_constants(p, LANES));
  p += CONSTANT_FOURS * LANES;
#if FULL
  for (uint i = 0; i < n_dims; i += FACTOR_ROWS) {
    Scores y[FACTOR_ROWS];
#pragma unroll
    for (uint k = 0; k < FACTOR_ROWS; ++k) set(&y[k], load_four(p + k * LANES));  // -offset
    p += FACTOR_ROWS * LANES;
    __global const float2 *xs = x + i / DIMS * DIMS * TILE_ROWS;
    for (uint j = i / DIMS * DIMS; j < n_dims; j += DIMS, p += DIMS * FACTOR_ROWS * LANES, xs += DIMS * TILE_ROWS) {
      float4 body[DIMS * FACTOR_ROWS];
#pragma unroll
      for (uint q = 0; q < DIMS * FACTOR_ROWS; ++q) body[q] = load_four(p + q * LANES);
#pragma unroll
      for (uint q = 0; q < DIMS * FACTOR_ROWS; ++q) {
        multiply_add(&y[q % FACTOR_ROWS], body[q], xs + q / FACTOR_ROWS * TILE_ROWS);
      }
    }
#pragma unroll
    for (uint k = 0; k < FACTOR_ROWS; ++k) subtract_squares(score, &y[k]);
  }
#else
  for (uint i = 0; i < n_dims; i += DIMS, p += 2 * DIMS * LANES, x += DIMS * TILE_ROWS) {
    float4 body[2 * DIMS];  // offsets and factors
#pragma unroll
    for (uint q = 0; q < 2 * DIMS; ++q) body[q] = load_four(p + q * LANES);
#pragma unroll
    for (uint d = 0; d < DIMS; ++d) {
      Scores y;
      set(&y, body[2 * d]);
      multiply_add(&y, body[2 * d + 1], x + d * TILE_ROWS);
      subtract_squares(score, &y);
    }
  }
#endif
}

static inline uint tile_dims(uint n_dims) { return (n_dims + DIMS - 1) / DIMS * DIMS; }

// Computes scores[row][state] of states with codebooks of their own.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_states(
    __global const Four *restrict fours, __global const GmmBlock *restrict blocks, __global const uint *restrict states,
    __global const float2 *restrict tiles, uint n_dims, uint four_size, uint n_rows, __global float *restrict scores,
    uint n_states, uint add) {
  const uint lane = get_local_id(0), block_states = LANES / PARTS;
  const GmmBlock block = blocks[get_group_id(0)];
  __global const float2 *const x = tiles + (size_t)get_group_id(1) * tile_dims(n_dims) * TILE_ROWS;
  LogSum mixture[TILE_ROWS];
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) log_sum_clear(&mixture[r]);
  for (uint round = 0; round < block.n_rounds; ++round) {
    Scores score;
    score_four(fours + (size_t)(block.first_round + round) * four_size * LANES + lane, n_dims, x, &score);
#pragma unroll
    for (uint r = 0; r < TILE_ROWS; ++r) log_sum_add(&mixture[r], (float4)(score.of[0][r], score.of[1][r]));
  }
#if PARTS > 1
  __local float2 parts[TILE_ROWS * LANES];
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) parts[r * LANES + lane] = (float2)(mixture[r].reference, mixture[r].sum);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  // Row and state of a lane are exchanged with its part, so that all lanes store.
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

// Computes scores[Gaussian][row] of the codebooks that states share.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_gaussians(__global const Four *restrict fours,
                                                                                    uint n_fours,
                                                                                    __global const float2 *restrict tiles,
                                                                                    uint n_dims, uint four_size, uint n_rows,
                                                                                    __global float *restrict scores) {
  const uint lane = get_local_id(0), four = get_group_id(0) * LANES + lane, first_row = get_group_id(1) * TILE_ROWS;
  Scores score;
  score_four(fours + (size_t)get_group_id(0) * four_size * LANES + lane, n_dims,
             tiles + (size_t)get_group_id(1) * tile_dims(n_dims) * TILE_ROWS, &score);
  if (four >= n_fours) return;
  __global float *const out = scores + (size_t)4 * four * n_rows + first_row;
#pragma unroll
  for (uint r = 0; r < TILE_ROWS; ++r) {
    if (first_row + r >= n_rows) break;
    const float4 v = (float4)(score.of[0][r], score.of[1][r]);
    out[r] = v.x;
    out[n_rows + r] = v.y;
    out[2 * (size_t)n_rows + r] = v.z;
    out[3 * (size_t)n_rows + r] = v.w;
  }
}
