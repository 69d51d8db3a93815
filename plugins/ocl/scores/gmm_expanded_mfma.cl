// SPDX-License-Identifier: Apache-2.0
// Mixtures of Gaussians with any quadratic form (G2, G3) on the matrix cores of AMD's CDNA. It does the work of
// gmm_expanded_tensor.cl, from the same packing, with v_mfma_f32_16x16x16_f16. Double reference:
// reference/gmm.cc, tolerance 2e-3.
//
// A wave of 64 owns TILES tiles of 16 rows and a block of 64 Gaussians. Two tiles of 8 are side by side in the 16
// columns of a product. Lane l has row, or Gaussian, l % 16. Among 16 values of k it has the four that one lane of the
// packing has: 2 q, 2 q + 1 and the two 8 further, q = l / 16. The order of k does not matter as long as rows and
// Gaussians agree. The lane gets the products of 4 rows with its Gaussian. Tiles end states one after the other, so
// that the lanes of the other tile wait meanwhile. n_warps waves with different rows share a stretch of blocks. No
// local memory, no barriers. Floor: 3 K multiply-adds a Gaussian and row, K = 704 for D = 36, in fp16 at 4 (MI200) to 8
// times (MI300) the rate of FP32. FP32 needs 702, so this is 1.3 to 2.7 times as fast at best. Diagonal models would
// gain nothing on MI200 and stay in FP32.
//   -D GROUP_SIZE=..., TILES=..., HALVED=0 or 1: a model without lo, TENSOR_MFMA=1, or 0 for the same in plain OpenCL C, a wave
//   a group, for tests
#include "plugins/gpu/scores/gmm_tensor_types.h"
#include "plugins/ocl/runtime/tensor_halves.clh"
#include "plugins/ocl/scores/mixture.clh"

#define WAVE 64u
#define PAIRS (kBlockTiles / 2)  // pairs of tiles
#define STEP_WORDS (kBlockTiles * LANE_WORDS * 32u)

static inline uint wave_lane(void) { return get_local_id(0) % WAVE; }

#if TENSOR_MFMA

#define UNROLL _Pragma("unroll")
typedef uint Shown;  // nothing
#define DECLARE_SHOWN(name) const Shown name = 0

static inline float lane_xor(Shown shown, float v, uint mask) {
  return as_float(__builtin_amdgcn_ds_bpermute((int)((wave_lane() ^ mask) * 4), as_int(v)));
}
// d += a b: a 16 rows, b 16 columns.
static inline void multiply(Shown shown, float4 *d, uint2 a, uint2 b) {
  *d = __builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(a), as_half4(b), *d, 0, 0, 0);
}

#else

#define UNROLL
typedef __local uint *Shown;  // [4][WAVE]
#define DECLARE_SHOWN(name) __local uint name[4 * WAVE]

static inline float lane_xor(Shown shown, float v, uint mask) {
  shown[wave_lane()] = as_uint(v);
  barrier(CLK_LOCAL_MEM_FENCE);
  const float other = as_float(shown[wave_lane() ^ mask]);
  barrier(CLK_LOCAL_MEM_FENCE);
  return other;
}
static inline void multiply(Shown shown, float4 *d, uint2 a, uint2 b) {
  const uint lane = wave_lane();
  shown[lane] = a.x, shown[WAVE + lane] = a.y, shown[2 * WAVE + lane] = b.x, shown[3 * WAVE + lane] = b.y;
  barrier(CLK_LOCAL_MEM_FENCE);
  float sums[4] = {d->x, d->y, d->z, d->w};
  for (uint i = 0; i < 4; ++i) {
    for (uint k = 0; k < 16; ++k) {
      const uint from = k / 4 * 16, word = k % 4 / 2 * WAVE, shift = 16 * (k % 2);
      const uint of_a = shown[word + from + 4 * (lane / 16) + i], of_b = shown[2 * WAVE + word + from + lane % 16];
      sums[i] += half_value(of_a >> shift & 0xffff) * half_value(of_b >> shift & 0xffff);
    }
  }
  *d = (float4)(sums[0], sums[1], sums[2], sums[3]);
  barrier(CLK_LOCAL_MEM_FENCE);
}

#endif

// Makes one product of small numbers, d[16][16]: row i and column j make sum_k (i + 2 k) (j - k). It shows whether lanes hold
// the values that the first comment assigns to them.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void mfma_probe(__global float *restrict d) {
  DECLARE_SHOWN(shown);
  const uint of_16 = wave_lane() % 16, quarter = wave_lane() / 16;
  uint a[4], b[4];
  for (uint i = 0; i < 4; ++i) {
    const float k = 4 * quarter + i;
    a[i] = half_bits(of_16 + 2 * k);
    b[i] = half_bits(of_16 - k);
  }
  float4 sums = (float4)(0);
  multiply(shown, &sums, (uint2)(a[0] | a[1] << 16, a[2] | a[3] << 16), (uint2)(b[0] | b[1] << 16, b[2] | b[3] << 16));
  if (get_local_id(0) >= WAVE) return;
  d[(4 * quarter) * 16 + of_16] = sums.x;
  d[(4 * quarter + 1) * 16 + of_16] = sums.y;
  d[(4 * quarter + 2) * 16 + of_16] = sums.z;
  d[(4 * quarter + 3) * 16 + of_16] = sums.w;
}

// A lane's part of 16 values of k: hi and lo of its row in each tile, and of its Gaussian in each pair of tiles.
typedef struct Step {
  uint2 row_hi[TILES], row_lo[TILES];
  Fragment gaussians[PAIRS];
} Step;

static inline Step load_step(__global const uint *gaussians, __global const uint *fragments, uint first_tile, uint n_row_tiles,
                             uint n_steps, uint block, uint number) {
  const uint of_16 = wave_lane() % 16, half_tile = of_16 / 8, lane = of_16 % 8 * 4 + wave_lane() / 16;
  Step step;
  UNROLL for (uint t = 0; t < TILES; ++t) {
    const size_t tile = min(first_tile + t, n_row_tiles - 1);
    __global const uint4 *const lanes = (__global const uint4 *)(fragments + (tile * n_steps + number) * kRowStepWords);
    const uint4 hi = lanes[lane], lo = lanes[32 + lane];
    step.row_hi[t] = half_tile == 0 ? hi.xz : hi.yw;
    step.row_lo[t] = half_tile == 0 ? lo.xz : lo.yw;
  }
  __global const Fragment *const of_step =
      (__global const Fragment *)(gaussians + ((size_t)block * n_steps + number) * STEP_WORDS);
  UNROLL for (uint p = 0; p < PAIRS; ++p) step.gaussians[p] = of_step[(2 * p + half_tile) * 32 + lane];
  return step;
}

// Small products are summed apart, so that the large sum is rounded a third as often.
static inline void add_products(Shown shown, float4 (*main_sums)[TILES], float4 (*small_sums)[TILES], const Step *step) {
#if !HALVED
  UNROLL for (uint i = 0; i < PAIRS * TILES; ++i) {
    multiply(shown, &small_sums[i / TILES][i % TILES], step->row_hi[i % TILES], step->gaussians[i / TILES].zw);
  }
#endif
  UNROLL for (uint i = 0; i < PAIRS * TILES; ++i) {
    multiply(shown, &main_sums[i / TILES][i % TILES], step->row_hi[i % TILES], step->gaussians[i / TILES].xy);
  }
  UNROLL for (uint i = 0; i < PAIRS * TILES; ++i) {
    multiply(shown, &small_sums[i / TILES][i % TILES], step->row_lo[i % TILES], step->gaussians[i / TILES].xy);
  }
}

// Ends a state, or, if state is -1, none: merges the 16 lanes of a row; lane i of them stores the i-th of their rows. In plain
// OpenCL C all lanes merge in either case: PoCL does not compile barriers well that only some tiles reach.
__attribute__((always_inline)) static inline void store_scores(Shown shown, LogSum *sums, int state, uint first_row,
                                                               uint n_rows, __global float *scores, uint n_states, uint add) {
  if (TENSOR_MFMA && state < 0) return;
  float score = 0;
  UNROLL for (uint i = 0; i < 4 * TILES; ++i) {
    LogSum sum = sums[i];
    float top = sum.reference;
    UNROLL for (uint mask = 1; mask < 16; mask *= 2) top = fmax(top, lane_xor(shown, top, mask));
    sum.sum *= native_exp2(sum.reference - top);
    UNROLL for (uint mask = 1; mask < 16; mask *= 2) sum.sum += lane_xor(shown, sum.sum, mask);
    sum.reference = top;
    const float natural = log_sum_natural(sum);
    score = wave_lane() % 16 == i ? natural : score;
  }
  if (state < 0) return;
  UNROLL for (uint i = 0; i < 4 * TILES; ++i) log_sum_clear(&sums[i]);
  const uint i = wave_lane() % 16, row = first_row + i / 4 * 16 + 4 * (wave_lane() / 16) + i % 4;
  if (i < 4 * TILES && row < n_rows) put_score(scores + (size_t)row * n_states + state, score, add);
}

// Computes scores[row][state]. Waves that share stretch i have the blocks stretches[i] ... stretches[i + 1] - 1.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void gmm_expanded_mfma(
    __global const uint *restrict gaussians, __global const TileInfo *restrict infos, uint n_steps,
    __global const uint *restrict stretches, uint n_warps, __global const uint *restrict fragments,
    __global const float *restrict row_inverse_scale, uint n_rows, __global float *restrict scores, uint n_states, uint add) {
  DECLARE_SHOWN(shown);
  const uint wave = get_local_id(0) / WAVE, number = wave / n_warps * get_num_groups(0) + get_group_id(0);
  const uint first_row = (get_group_id(1) * n_warps + wave % n_warps) * 16 * TILES, n_row_tiles = (n_rows + 15) / 16;
  const uint begin = stretches[number], end = stretches[number + 1], column = wave_lane() % 16;
  if (TENSOR_MFMA && first_row >= n_rows) return;
  float inverse_scale[4 * TILES];
  LogSum mixture[4 * TILES];
  UNROLL for (uint i = 0; i < 4 * TILES; ++i) {
    inverse_scale[i] = row_inverse_scale[min(first_row + i / 4 * 16 + 4 * (wave_lane() / 16) + i % 4, n_rows - 1)];
    log_sum_clear(&mixture[i]);
  }
  for (uint block = begin; block < end; ++block) {
    float4 main_sums[PAIRS][TILES], small_sums[PAIRS][TILES];
    UNROLL for (uint i = 0; i < PAIRS * TILES; ++i) {
      main_sums[i / TILES][i % TILES] = small_sums[i / TILES][i % TILES] = (float4)(0);
    }
    Step next = load_step(gaussians, fragments, first_row / 16, n_row_tiles, n_steps, block, 0);
    for (uint s = 0; s < n_steps; ++s) {
      const Step step = next;
      next = load_step(gaussians, fragments, first_row / 16, n_row_tiles, n_steps, block, min(s + 1, n_steps - 1));
      add_products(shown, main_sums, small_sums, &step);
    }
    UNROLL for (uint n = 0; n < kBlockTiles; ++n) {
      __global const TileInfo *const info = infos + (size_t)block * kBlockTiles + n;
      const float constant_of = info->constants[column % 8];
      UNROLL for (uint t = 0; t < TILES; ++t) {
        const float4 d = main_sums[n / 2][t] + small_sums[n / 2][t];
        const float of_rows[4] = {d.x, d.y, d.z, d.w};
        UNROLL for (uint i = 0; i < 4; ++i) {
          LogSum *const sum = &mixture[4 * t + i];
          const float v = column / 8 == n % 2 ? fma(of_rows[i], inverse_scale[4 * t + i], constant_of) : kLogZero;
          log_sum_refer(sum, v);
          sum->sum += native_exp2(v - sum->reference);
        }
      }
      store_scores(shown, mixture, info->states[0], first_row, n_rows, scores, n_states, add);
    }
  }
}
