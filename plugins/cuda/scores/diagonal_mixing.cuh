// SPDX-License-Identifier: Apache-2.0
// The log-sum-exp of gmm_diagonal_wgmma.cu: a warp's way through tiles of products of 16 rows. It adds them to log sums in
// registers, merges the log sums of states that end, and stores their scores.
#pragma once

#include "plugins/cuda/scores/diagonal_rows.cuh"
#include "plugins/cuda/scores/gmm_launch.h"
#include "plugins/cuda/scores/hopper.cuh"
#include "plugins/cuda/scores/mixture.cuh"

namespace asr::gpu {

constexpr uint32_t kWarp = 32;

// Tells the compiler that a value is the same for all lanes.
__device__ __forceinline__ uint32_t uniform(uint32_t value) { return __shfl_sync(0xffffffffu, value, 0); }

// Mixture is a warp's way through the tiles of its stretch: the log sums of a state that has begun.
struct Mixture {
  LogSum of[2];         // of rows lane / 4 and + 8
  uint32_t begins = 1;  // 1: the next tile is the first of a state
};

// HeldStates is its way through states by fours: scores of four wait for the next four, so that whole sectors of memory are
// stored.
struct HeldStates {
  float scores[2] = {};  // of rows lane / 4 and + 8; lane q % 4 has those of the q-th state
  int32_t first = -1;    // the first state; -1: none
};

// Adds a tile's 8 Gaussians, as mma leaves them, to the log sums of two rows, without a branch, so that tiles overlap. The
// first tile of a state has no sum to scale.
__device__ __forceinline__ void add_tile(const float (&d)[4], const float (&scale)[2], float2 constant, bool begins,
                                         LogSum (&sums)[2]) {
  float v[2][2], top[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    v[half][0] = fmaf(d[2 * half], scale[half], constant.x);
    v[half][1] = fmaf(d[2 * half + 1], scale[half], constant.y);
    top[half] = fmaxf(v[half][0], v[half][1]);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sums[half].reference = begins ? fmaxf(top[half], kLogZero) : sums[half].reference;
    sums[half].sum = begins ? 0 : sums[half].sum;
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) log_sum_refer(&sums[half], top[half]);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sums[half].sum += fast_exp2(v[half][0] - sums[half].reference) + fast_exp2(v[half][1] - sums[half].reference);
  }
}

// Scores is the row of a lane's scores. It stores them if there is such a row.
struct Scores {
  float *row;
  bool stores, add;
};

// Stores two states, which end with two tiles: merges the log sums of their two rows over a quad's lanes, of which each gets
// one. `tile`, among those of `mask`, ends the state of this lane; lane `tile` of `states` has its number.
__device__ __forceinline__ void store_states(const float (&first)[4], const float (&second)[4], uint32_t mask, uint32_t tile,
                                             int32_t states, const Scores &scores) {
  const LogSum of[4] = {{first[0], first[1]}, {first[2], first[3]}, {second[0], second[1]}, {second[2], second[3]}};
  const float natural = log_sum_natural(log_sum_merge_four(of));
  const int32_t state = __shfl_sync(0xffffffffu, states, static_cast<int>(tile));
  if (scores.stores && (mask >> tile & 1) != 0) put_score(scores.row + state, natural, scores.add);
}

// Stores a score that a lane has.
__device__ __forceinline__ void store_score(const GmmRows &rows, uint32_t row, int32_t state, float natural) {
  if (row < rows.n_rows) put(rows, row, static_cast<uint32_t>(state), natural);
}

// Stores a lane's scores of a state, or of none (-1), for rows lane / 4 and + 8.
__device__ __forceinline__ void store_four(const GmmRows &rows, uint32_t first_row, int32_t state, const float (&natural)[2]) {
  if (state < 0) return;
  const uint32_t row = first_row + threadIdx.x % kWarp / 4;
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) store_score(rows, row + 8 * half, state, natural[half]);
}

// Stores the four states that are held.
__device__ __forceinline__ void store_held(const GmmRows &rows, uint32_t first_row, HeldStates &held) {
  if (held.first < 0) return;
  store_four(rows, first_row, held.first + static_cast<int32_t>(threadIdx.x % 4), held.scores);
  held.first = -1;
}

// Takes the scores of four states. If they follow each other, they are stored with the four before, so that 8 lanes fill a
// sector of memory: of two quads, which have a row each, one sends its later states and the other its earlier ones. Four that
// end a sector and have none before are stored at once.
__device__ __forceinline__ void hold_states(const GmmRows &rows, uint32_t first_row, int32_t state, const float (&natural)[2],
                                            HeldStates &held) {
  const uint32_t lane = threadIdx.x % kWarp;
  const int32_t first = __shfl_sync(0xffffffffu, state, 0);
  const bool follow = __all_sync(0xffffffffu, state == first + static_cast<int32_t>(lane % 4)) != 0;
  if (!follow || held.first < 0 || first != held.first + 4) {
    store_held(rows, first_row, held);
    if (!follow || first % 8 >= 4) return store_four(rows, first_row, state, natural);
    held.scores[0] = natural[0], held.scores[1] = natural[1], held.first = first;
    return;
  }
  const uint32_t row = first_row + lane / 8 * 2;
  const bool odd = (lane & 4) != 0;
  const int32_t of_lane = held.first + static_cast<int32_t>(lane % 8);
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    const float early = held.scores[half], late = natural[half];
    const float other = __shfl_xor_sync(0xffffffffu, odd ? early : late, 4);
    store_score(rows, row + 8 * half, of_lane, odd ? other : early);
    store_score(rows, row + 8 * half + 1, of_lane, odd ? late : other);
  }
  held.first = -1;
}

// Adds the sums of a stage's tiles to the mixture of a warp's 16 rows, and stores the states that end. A state's log sums take
// the place of its last tile in d, so that two states are merged at once.
template <uint32_t kTiles>
__device__ __forceinline__ void mix_tiles(float (&d)[kTiles][4], const TileInfo *infos, uint32_t n_tiles,
                                          const float (&inverse_scale)[2], const Scores &scores, Mixture &mixture) {
  const uint32_t lane = threadIdx.x % kWarp, q = lane % 4;
  const int32_t states = lane < n_tiles ? infos[lane].states[0] : -1;
  const uint32_t ends = uniform(__ballot_sync(0xffffffffu, states >= 0));
  const uint32_t begins = ends << 1 | mixture.begins;
  mixture.begins = begins >> n_tiles & 1;
#pragma unroll
  for (uint32_t i = 0; i < kTiles; ++i) {
    const float2 constant = reinterpret_cast<const float2 *>(infos[i].constants)[q];
    add_tile(d[i], inverse_scale, constant, (begins >> i & 1) != 0, mixture.of);
    d[i][0] = mixture.of[0].reference, d[i][1] = mixture.of[0].sum;
    d[i][2] = mixture.of[1].reference, d[i][3] = mixture.of[1].sum;
  }
  const uint32_t pair = q & 2;
#pragma unroll
  for (uint32_t i = 0; i < kTiles; i += 4) {  // two pairs of tiles; of a pair, both rarely end a state
    if ((ends >> i & 15) == 0) continue;
    float of[2][4];
#pragma unroll
    for (uint32_t k = 0; k < 2; ++k) {
      const bool first = (ends >> (i + 2 * k) & 1) != 0;
#pragma unroll
      for (uint32_t j = 0; j < 4; ++j) of[k][j] = first ? d[i + 2 * k][j] : d[i + 2 * k + 1][j];
    }
    const uint32_t both = ends & ends >> 1 & 5u << i;
    store_states(of[0], of[1], ends, i + pair + 1 - (ends >> (i + pair) & 1), states, scores);
    if (both != 0) store_states(d[i + 1], d[i + 3], both << 1, i + pair + 1, states, scores);
  }
}

// Mixes states by fours (pack_diagonal() in plugins/gpu/scores/gmm_tensor_pack.cc): lane q % 4 has all Gaussians of the q-th
// state of each kFour tiles, so lanes have nothing to merge.
template <uint32_t kFour>
__device__ __forceinline__ void mix_fours(const float (&d)[kFewProductTiles][4], const TileInfo *infos, uint32_t n_tiles,
                                          const float (&inverse_scale)[2], const GmmRows &rows, uint32_t first_row,
                                          HeldStates &held) {
  const uint32_t q = threadIdx.x % 4;
#pragma unroll
  for (uint32_t first_tile = 0; first_tile < kFewProductTiles; first_tile += kFour) {
    if (first_tile >= n_tiles) break;
    float v[2][2 * kFour], natural[2];
#pragma unroll
    for (uint32_t k = 0; k < kFour; ++k) {
      const uint32_t tile = first_tile + k;
      const float2 constant = reinterpret_cast<const float2 *>(infos[tile].constants)[q];
#pragma unroll
      for (uint32_t half = 0; half < 2; ++half) {
        v[half][2 * k] = fmaf(d[tile][2 * half], inverse_scale[half], constant.x);
        v[half][2 * k + 1] = fmaf(d[tile][2 * half + 1], inverse_scale[half], constant.y);
      }
    }
#pragma unroll
    for (uint32_t half = 0; half < 2; ++half) {
      LogSum sum = {kLogZero, 0};
#pragma unroll
      for (uint32_t k = 0; k < 2 * kFour; ++k) sum.reference = fmaxf(sum.reference, v[half][k]);
#pragma unroll
      for (uint32_t k = 0; k < 2 * kFour; ++k) sum.sum += fast_exp2(v[half][k] - sum.reference);
      natural[half] = log_sum_natural(sum);
    }
    hold_states(rows, first_row, infos[first_tile + kFour - 1].states[q], natural, held);
  }
}

__device__ __forceinline__ void mix_fours(const float (&d)[kFewProductTiles][4], uint32_t four_tiles, const TileInfo *infos,
                                          uint32_t n_tiles, const float (&inverse_scale)[2], const GmmRows &rows,
                                          uint32_t first_row, HeldStates &held) {
  static_assert(kMaxFourTiles == kFewProductTiles);
  if (four_tiles == kMaxFourTiles) {
    mix_fours<kMaxFourTiles>(d, infos, n_tiles, inverse_scale, rows, first_row, held);
  } else {
    mix_fours<kMaxFourTiles / 2>(d, infos, n_tiles, inverse_scale, rows, first_row, held);
  }
}

}  // namespace asr::gpu
