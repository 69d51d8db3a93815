// SPDX-License-Identifier: Apache-2.0
// Mixtures of diagonal Gaussians (G1, G3) on NVIDIA's tensor cores: score = constant + sum_d u_d x_d + v_d x_d^2. It is
// a product of rows [16][2 D] and Gaussians [2 D][8], in fp16 halves of both, with sums in FP32. Double reference:
// tests/reference/gmm.cc, tolerance 2e-3. Tiles of Gaussians lie in memory as plugins/common/gmm_tensor_pack.h says.
//
// A warp owns 16 or 32 rows, whose fragments stay in its registers, and takes one tile of 8 Gaussians after the other.
// The next tile is loaded while this one is multiplied. Their log-sum-exp stays in registers, too, and leaves them once
// a state. n_warps warps with different rows share a stretch of tiles, which the first of them brings into the L1
// cache. No local memory, no barriers. Floors as in the CUDA back end's kernel of this name: 5000 x 256 x 36, 8 rows:
// 87 us (memory); 256: 225 us (mma).
//   -D STEPS=4, 9 or 10: of 8 values of k, GROUP_SIZE=..., TILES=..., TENSOR_PTX=...
#include "plugins/common/ocl/kernels/tensor.h"

#define PAIRS (STEPS / 2)
#define HAS_LAST (STEPS % 2)
#define TILE_WORDS (STEPS * 64 + 12)

// phi of a warp's rows in mma's layout; k = 2 d is x_d and 2 d + 1 is x_d^2.
typedef struct RowFragments {
  uint hi[TILES][PAIRS][4], lo[TILES][PAIRS][4];
  uint last_hi[TILES][2], last_lo[TILES][2];  // last step, if their number is odd
  float inverse_scale[TILES * 2];
} RowFragments;

// A lane's part of a tile.
typedef struct Tile {
  uint4 pairs[PAIRS];
  uint2 last;
  float2 constants;
  int state;
} Tile;

static inline void load_row(Shown shown, RowFragments *rows, uint t, uint half_tile, __global const float *features,
                            __global const TensorDim *dims, uint n_dims) {
  const uint q = warp_lane() % 4;
  float x[STEPS], largest = 0;  // features of dimensions q, q + 4, q + 8 ...
  UNROLL for (uint s = 0; s < STEPS; ++s) {
    const uint d = 4 * s + q;
    const TensorDim dim = dims[min(d, n_dims - 1)];
    x[s] = d < n_dims ? (features[dim.dim] - dim.centre) * dim.scale : 0;
    largest = fmax(largest, fabs(x[s]));
  }
  largest = fmax(largest, lane_xor(shown, largest, 1));
  largest = fmax(largest, lane_xor(shown, largest, 2));
  const float scale = row_scale(largest);
  rows->inverse_scale[2 * t + half_tile] = 1 / scale;
  UNROLL for (uint s = 0; s < STEPS; ++s) {
    const float2 phi = (float2)(x[s], x[s] * x[s]) * scale;
    if (s < 2 * PAIRS) {
      split(phi, &rows->hi[t][s / 2][s % 2 * 2 + half_tile], &rows->lo[t][s / 2][s % 2 * 2 + half_tile]);
    } else {
      split(phi, &rows->last_hi[t][half_tile], &rows->last_lo[t][half_tile]);
    }
  }
}

static inline Tile load_tile(__global const uint *words) {
  const uint lane = warp_lane();
  Tile tile;
  UNROLL for (uint p = 0; p < PAIRS; ++p) tile.pairs[p] = ((__global const uint4 *)words)[p * WARP + lane];
#if HAS_LAST
  tile.last = ((__global const uint2 *)(words + PAIRS * 128))[lane];
#endif
  tile.constants = ((__global const float2 *)(words + STEPS * 64))[lane % 4];
  tile.state = (int)words[STEPS * 64 + 8];
  return tile;
}

// Adds the small products first, so that the large sum is rounded less often.
static inline void score_tile(Shown shown, const Tile *tile, const RowFragments *rows, RowLogSums *mixture) {
  float d[TILES * 4];
  UNROLL for (uint i = 0; i < TILES * 4; ++i) d[i] = 0;
  UNROLL for (uint p = 0; p < PAIRS; ++p) {
    UNROLL for (uint t = 0; t < TILES; ++t) multiply(shown, d + 4 * t, rows->hi[t][p], tile->pairs[p].z, tile->pairs[p].w);
    UNROLL for (uint t = 0; t < TILES; ++t) multiply(shown, d + 4 * t, rows->lo[t][p], tile->pairs[p].x, tile->pairs[p].y);
  }
#if HAS_LAST
  UNROLL for (uint t = 0; t < TILES; ++t) {  // hi lo and lo hi of 8 values of k make one product of 16
    const uint both[4] = {rows->last_hi[t][0], rows->last_hi[t][1], rows->last_lo[t][0], rows->last_lo[t][1]};
    multiply(shown, d + 4 * t, both, tile->last.y, tile->last.x);
  }
  UNROLL for (uint t = 0; t < TILES; ++t) multiply_half(shown, d + 4 * t, rows->last_hi[t], tile->last.x);
#endif
  UNROLL for (uint p = 0; p < PAIRS; ++p) {
    UNROLL for (uint t = 0; t < TILES; ++t) multiply(shown, d + 4 * t, rows->hi[t][p], tile->pairs[p].x, tile->pairs[p].y);
  }
  add_scores(mixture, d, rows->inverse_scale, tile->constants);
}

// Computes scores[row][state]. Warps that share stretch i have the tiles stretches[i] ... stretches[i + 1] - 1.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_diagonal_tensor(
    __global const uint *restrict tiles, __global const uint *restrict stretches, uint n_warps,
    __global const float *restrict features, uint n_rows, uint n_features, __global const TensorDim *restrict dims, uint n_dims,
    __global float *restrict scores, uint n_states, uint add) {
  DECLARE_SHOWN(shown);
  const uint warp = get_local_id(0) / WARP, number = warp / n_warps * get_num_groups(0) + get_group_id(0);
  const uint first_row = (get_group_id(1) * n_warps + warp % n_warps) * 16 * TILES;
  const uint begin = stretches[number], end = stretches[number + 1];
  if (TENSOR_PTX && first_row >= n_rows) return;
  RowFragments rows;
  UNROLL for (uint i = 0; i < 2 * TILES; ++i) {
    const uint row = min(first_row + 8 * i + warp_lane() / 4, n_rows - 1);
    load_row(shown, &rows, i / 2, i % 2, features + (size_t)row * n_features, dims, n_dims);
  }
  RowLogSums mixture;
  clear_rows(&mixture);
  Tile next = load_tile(tiles + (size_t)min(begin, end - 1) * TILE_WORDS);
  for (uint i = begin; i < end; ++i) {
    const Tile tile = next;
    next = load_tile(tiles + (size_t)min(i + 1, end - 1) * TILE_WORDS);
    score_tile(shown, &tile, &rows, &mixture);
    store_scores(shown, &mixture, tile.state, first_row, n_rows, scores, n_states, add);
  }
}
