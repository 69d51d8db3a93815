// SPDX-License-Identifier: Apache-2.0
// Mixtures of Gaussians with any quadratic form (G2, G3) on NVIDIA's tensor cores: score = constant + sum_k w_k
// phi_k(x), phi the D features and their D (D + 1) / 2 products. It is a product of rows [16][K] and Gaussians [K][8],
// in fp16 halves of both, with sums in FP32. Double reference: reference/gmm.cc, tolerance 2e-3. The products x_i
// x_j are made once a window (gmm_expand.cl). Gaussians lie in memory as plugins/gpu/scores/gmm_tensor_pack.h says.
//
// A warp owns 16 or 32 rows and a block of 64 Gaussians, whose sums stay in its registers while K passes. Gaussians are
// loaded half a step ahead. Products hi hi and the small ones are summed apart, so that the large sum is rounded a
// third as often. n_warps warps with different rows share a stretch of blocks, which the first of them brings into the
// L1 cache. No local memory, no barriers. Floors for 5000 x 16 Gaussians, D = 36, as in the CUDA back end's kernel: 52
// us (memory), for 256 rows 137 us (mma).
//   -D GROUP_SIZE=..., TILES=..., TENSOR_PTX=..., HALVED=0 or 1: a model without lo, half the bytes
#include "plugins/ocl/runtime/tensor.clh"

#define HALF_TILES (kBlockTiles / 2)
#define HALF_STEP_WORDS (HALF_TILES * LANE_WORDS * WARP)

// A lane's part of 16 values of k: of the warp's rows, and of half of a block's Gaussians.
typedef struct RowStep {
  uint hi[TILES][4], lo[TILES][4];
} RowStep;
typedef struct HalfStep {
  Fragment tiles[HALF_TILES];
} HalfStep;

static inline RowStep load_rows(__global const uint *fragments, uint first_tile, uint n_tiles, uint n_steps, uint step) {
  RowStep rows;
  UNROLL for (uint t = 0; t < TILES; ++t) {
    const size_t tile = min(first_tile + t, n_tiles - 1);
    __global const uint4 *const lanes = (__global const uint4 *)(fragments + (tile * n_steps + step) * kRowStepWords);
    const uint4 hi = lanes[warp_lane()], lo = lanes[WARP + warp_lane()];
    rows.hi[t][0] = hi.x, rows.hi[t][1] = hi.y, rows.hi[t][2] = hi.z, rows.hi[t][3] = hi.w;
    rows.lo[t][0] = lo.x, rows.lo[t][1] = lo.y, rows.lo[t][2] = lo.z, rows.lo[t][3] = lo.w;
  }
  return rows;
}

static inline HalfStep load_half(__global const uint *gaussians, size_t number) {
  __global const Fragment *const lanes = (__global const Fragment *)(gaussians + number * HALF_STEP_WORDS);
  HalfStep half_step;
  UNROLL for (uint n = 0; n < HALF_TILES; ++n) half_step.tiles[n] = lanes[n * WARP + warp_lane()];
  return half_step;
}

// Sums [HALF_TILES][TILES][4]; kinds of products one after the other, so that none waits for the one before it.
static inline void add_products(Shown shown, float *main_sums, float *small_sums, const HalfStep *b, const RowStep *a) {
#if !HALVED
  UNROLL for (uint i = 0; i < HALF_TILES * TILES; ++i) {
    multiply(shown, small_sums + 4 * i, a->hi[i % TILES], b->tiles[i / TILES].z, b->tiles[i / TILES].w);
  }
#endif
  UNROLL for (uint i = 0; i < HALF_TILES * TILES; ++i) {
    multiply(shown, main_sums + 4 * i, a->hi[i % TILES], b->tiles[i / TILES].x, b->tiles[i / TILES].y);
  }
  UNROLL for (uint i = 0; i < HALF_TILES * TILES; ++i) {
    multiply(shown, small_sums + 4 * i, a->lo[i % TILES], b->tiles[i / TILES].x, b->tiles[i / TILES].y);
  }
}

// Computes scores[row][state]. Warps that share stretch i have the blocks stretches[i] ... stretches[i + 1] - 1.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_expanded_tensor(
    __global const uint *restrict gaussians, __global const TileInfo *restrict infos, uint n_steps,
    __global const uint *restrict stretches, uint n_warps, __global const uint *restrict fragments,
    __global const float *restrict row_inverse_scale, uint n_rows, __global float *restrict scores, uint n_states, uint add) {
  DECLARE_SHOWN(shown);
  const uint warp = get_local_id(0) / WARP, number = warp / n_warps * get_num_groups(0) + get_group_id(0);
  const uint first_row = (get_group_id(1) * n_warps + warp % n_warps) * 16 * TILES, n_row_tiles = (n_rows + 15) / 16;
  const uint begin = stretches[number], end = stretches[number + 1];
  if (TENSOR_PTX && first_row >= n_rows) return;
  float inverse_scale[TILES * 2];
  UNROLL for (uint i = 0; i < 2 * TILES; ++i) {
    inverse_scale[i] = row_inverse_scale[min(first_row + 8 * i + warp_lane() / 4, n_rows - 1)];
  }
  RowLogSums mixture;
  clear_rows(&mixture);
  const size_t last_half = (size_t)end * n_steps * 2 - 1;
  size_t half_number = (size_t)begin * n_steps * 2;
  HalfStep b = load_half(gaussians, min(half_number, last_half));
  RowStep a = load_rows(fragments, first_row / 16, n_row_tiles, n_steps, 0);
  for (uint block = begin; block < end; ++block) {
    float main_sums[kBlockTiles * TILES * 4], small_sums[kBlockTiles * TILES * 4];
    UNROLL for (uint i = 0; i < kBlockTiles * TILES * 4; ++i) main_sums[i] = small_sums[i] = 0;
    for (uint step = 0; step < n_steps; ++step, half_number += 2) {
      const HalfStep second = load_half(gaussians, half_number + 1);
      const RowStep next = load_rows(fragments, first_row / 16, n_row_tiles, n_steps, step + 1 < n_steps ? step + 1 : 0);
      add_products(shown, main_sums, small_sums, &b, &a);
      b = load_half(gaussians, min(half_number + 2, last_half));
      add_products(shown, main_sums + HALF_TILES * TILES * 4, small_sums + HALF_TILES * TILES * 4, &second, &a);
      a = next;
    }
    UNROLL for (uint n = 0; n < kBlockTiles; ++n) {
      __global const TileInfo *const info = infos + (size_t)block * kBlockTiles + n;
      float d[TILES * 4];
      UNROLL for (uint i = 0; i < TILES * 4; ++i) d[i] = main_sums[n * TILES * 4 + i] + small_sums[n * TILES * 4 + i];
      add_scores(&mixture, d, inverse_scale, ((__global const float2 *)info->constants)[warp_lane() % 4]);
      store_scores(shown, &mixture, info->states[0], first_row, n_rows, scores, n_states, add);
    }
  }
}
