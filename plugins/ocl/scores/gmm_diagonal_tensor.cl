// SPDX-License-Identifier: Apache-2.0
// Mixtures of diagonal Gaussians (G1, G3) on NVIDIA's tensor cores: score = constant + sum_d u_d x_d + v_d x_d^2. It is
// a product of rows [16][2 D] and Gaussians [2 D][8], in fp16 halves of both, with sums in FP32. Double reference:
// reference/gmm.cc, tolerance 2e-3. Tiles of Gaussians lie in memory as plugins/gpu/scores/gmm_tensor_pack.h says.
//
// A warp owns 16 or 32 rows, whose fragments stay in its registers, and takes one tile of 8 Gaussians after the other.
// The next tile is loaded while this one is multiplied. Their log-sum-exp stays in registers, too, and leaves them once
// a state. n_warps warps with different rows share a stretch of tiles, which the first of them brings into the L1
// cache. No local memory, no barriers. Up to MODELS models share a launch, in which each has work-groups of its own.
// Floors as in the CUDA back end's kernel of this name: 5000 x 256 x 36, 8 rows: 87 us (memory); 256: 225 us (mma).
//   -D MODELS=1 or 12, STEPS=4, 9 or 10: steps of 8 values of k, GROUP_SIZE=..., TILES=..., TENSOR_PTX=..., HALVED=0 or 1:
//   models without lo
#include "plugins/ocl/runtime/tensor.clh"

#define PAIRS (STEPS / 2)
#define HAS_LAST (STEPS % 2)
#define INFO_AT (STEPS * LANE_WORDS * WARP / 2)
#define TILE_WORDS (INFO_AT + 12)

// phi of a warp's rows in mma's layout; k = 2 d is x_d and 2 d + 1 is x_d^2.
typedef struct RowFragments {
  uint hi[TILES][PAIRS][4], lo[TILES][PAIRS][4];
  uint last_hi[TILES][2], last_lo[TILES][2];  // last step, if their number is odd
  float inverse_scale[TILES * 2];
} RowFragments;

// A lane's part of a tile.
typedef struct Tile {
  Fragment pairs[PAIRS];
  HalfFragment last;
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
  UNROLL for (uint p = 0; p < PAIRS; ++p) tile.pairs[p] = ((__global const Fragment *)words)[p * WARP + lane];
#if HAS_LAST
  tile.last = ((__global const HalfFragment *)(words + PAIRS * LANE_WORDS * WARP))[lane];
#endif
  tile.constants = ((__global const float2 *)(words + INFO_AT))[lane % 4];
  tile.state = (int)words[INFO_AT + 8];
  return tile;
}

// Adds the small products first, so that the large sum is rounded less often.
static inline void score_tile(Shown shown, const Tile *tile, const RowFragments *rows, RowLogSums *mixture) {
  float d[TILES * 4];
  UNROLL for (uint i = 0; i < TILES * 4; ++i) d[i] = 0;
  UNROLL for (uint p = 0; p < PAIRS; ++p) {
#if !HALVED
    UNROLL for (uint t = 0; t < TILES; ++t) multiply(shown, d + 4 * t, rows->hi[t][p], tile->pairs[p].z, tile->pairs[p].w);
#endif
    UNROLL for (uint t = 0; t < TILES; ++t) multiply(shown, d + 4 * t, rows->lo[t][p], tile->pairs[p].x, tile->pairs[p].y);
  }
#if HAS_LAST && HALVED
  UNROLL for (uint t = 0; t < TILES; ++t) multiply_half(shown, d + 4 * t, rows->last_lo[t], tile->last);
  UNROLL for (uint t = 0; t < TILES; ++t) multiply_half(shown, d + 4 * t, rows->last_hi[t], tile->last);
#elif HAS_LAST
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

// A model and its part of a launch has numbers, {n_rows, n_features, n_dims, n_states, n_tiles, n_warps + 16 add, first_group,
// n_groups}, and arrays. A model that is not there has a first group beyond all others. `begins` has the tiles at which
// stretches begin, if there is one model; of many, for each tile that with which its state begins, and the end.
#define NUMBERS(m) uint8 of##m
#if MODELS == 1
#define RESTRICT restrict
#else
#define RESTRICT
#endif
#define ARRAYS(m)                                                                                                              \
  __global const uint *RESTRICT tiles##m, __global const uint *RESTRICT begins##m, __global const TensorDim *RESTRICT dims##m, \
      __global const float *RESTRICT features##m, __global float *RESTRICT scores##m
#define CHOOSE(m)                                                                                                 \
  if (get_group_id(0) >= of##m.s6) {                                                                              \
    of = of##m, tiles = tiles##m, begins = begins##m, dims = dims##m, features = features##m, scores = scores##m; \
  }
#if MODELS == 1
#define ALL_NUMBERS NUMBERS(0)
#define ALL_ARRAYS ARRAYS(0)
#define CHOOSE_OTHERS
#else
#define ALL_NUMBERS                                                                                                       \
  NUMBERS(0), NUMBERS(1), NUMBERS(2), NUMBERS(3), NUMBERS(4), NUMBERS(5), NUMBERS(6), NUMBERS(7), NUMBERS(8), NUMBERS(9), \
      NUMBERS(10), NUMBERS(11)
#define ALL_ARRAYS                                                                                                          \
  ARRAYS(0), ARRAYS(1), ARRAYS(2), ARRAYS(3), ARRAYS(4), ARRAYS(5), ARRAYS(6), ARRAYS(7), ARRAYS(8), ARRAYS(9), ARRAYS(10), \
      ARRAYS(11)
#define CHOOSE_OTHERS \
  CHOOSE(1) CHOOSE(2) CHOOSE(3) CHOOSE(4) CHOOSE(5) CHOOSE(6) CHOOSE(7) CHOOSE(8) CHOOSE(9) CHOOSE(10) CHOOSE(11)
#endif

// The tile at which stretch `number` of n begins.
static inline uint begin_of(__global const uint *begins, uint n_tiles, uint number, uint n) {
#if MODELS == 1
  return begins[number];
#else
  return begins[number * (n_tiles / n) + min(number, n_tiles % n)];
#endif
}

// Computes scores[row][state].
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_diagonal_tensor(ALL_NUMBERS, ALL_ARRAYS) {
  DECLARE_SHOWN(shown);
  uint8 of = of0;
  __global const uint *tiles = tiles0, *begins = begins0;
  __global const TensorDim *dims = dims0;
  __global const float *features = features0;
  __global float *scores = scores0;
  CHOOSE_OTHERS
  const uint n_rows = of.s0, n_features = of.s1, n_dims = of.s2, n_states = of.s3, n_tiles = of.s4;
  const uint n_warps = of.s5 % 16, add = of.s5 / 16, group = get_group_id(0) - of.s6, n_groups = of.s7;
  const uint warp = get_local_id(0) / WARP, number = warp / n_warps * n_groups + group;
  const uint first_row = (get_group_id(1) * n_warps + warp % n_warps) * 16 * TILES;
  const uint n_stretches = GROUP_SIZE / WARP / n_warps * n_groups;
  if (TENSOR_PTX && first_row >= n_rows) return;
  const uint begin = begin_of(begins, n_tiles, number, n_stretches), end = begin_of(begins, n_tiles, number + 1, n_stretches);
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
