// SPDX-License-Identifier: Apache-2.0
// The log-sum-exp of gmm_diagonal_wgmma.cu: a warp's way through tiles of products of 16 rows. It adds them to log sums in
// registers, merges the log sums of states that end, and stores their scores.
#pragma once

#include "plugins/cuda/kernels/diagonal_rows.cuh"
#include "plugins/cuda/kernels/gmm.h"
#include "plugins/cuda/kernels/hopper.cuh"
#include "plugins/cuda/kernels/mixture.cuh"

namespace asr::cuda {

constexpr uint32_t kWarp = 32;

// Tells the compiler that a value is the same for all lanes.
__device__ __forceinline__ uint32_t uniform(uint32_t value) { return __shfl_sync(0xffffffffu, value, 0); }

// Mixture is a warp's way through the tiles of its stretch.
struct Mixture {
  LogSum of[2];         // sums of rows lane / 4 and + 8
  uint32_t next = 0;    // states that have ended
  uint32_t begins = 1;  // 1: the next tile is the first of a state
  // Sectors: scores of four states that wait for the next four, lane q % 4 that of the q-th, and the first state; -1: none.
  float held[2] = {};  // rows lane / 4 and + 8
  int32_t first_held = -1;
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

// The same for the first tile of a state, with the same bits.
__device__ __forceinline__ void begin_state(const float (&d)[4], const float (&scale)[2], float2 constant, LogSum (&sums)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float v = fmaf(d[2 * half], scale[half], constant.x), next = fmaf(d[2 * half + 1], scale[half], constant.y);
    const float reference = fmaxf(fmaxf(v, next), kLogZero);
    sums[half] = {reference, fast_exp2(v - reference) + fast_exp2(next - reference)};
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

// Stores the four states that a mixture holds.
__device__ __forceinline__ void store_held(const GmmRows &rows, uint32_t first_row, Mixture &mixture) {
  if (mixture.first_held < 0) return;
  const uint32_t row = first_row + threadIdx.x % kWarp / 4;
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    store_score(rows, row + 8 * half, mixture.first_held + static_cast<int32_t>(threadIdx.x % 4), mixture.held[half]);
  }
  mixture.first_held = -1;
}

// Takes the scores of four states, as a mixture holds them. They are stored with the four before, so that 8 lanes fill a
// sector of memory: of two quads, which have a row each, one sends its later states and the other its earlier ones. Four that
// end a sector and have none before are stored at once.
__device__ __forceinline__ void hold_states(const GmmRows &rows, uint32_t first_row, int32_t first, const float (&natural)[2],
                                            Mixture &mixture) {
  if (first != mixture.first_held + 4 || mixture.first_held < 0) {
    store_held(rows, first_row, mixture);
    mixture.held[0] = natural[0], mixture.held[1] = natural[1], mixture.first_held = first;
    if (first % 8 >= 4) store_held(rows, first_row, mixture);
    return;
  }
  const uint32_t lane = threadIdx.x % kWarp, row = first_row + lane / 8 * 2;
  const bool odd = (lane & 4) != 0;
  const int32_t state = mixture.first_held + static_cast<int32_t>(lane % 8);
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    const float early = mixture.held[half], late = natural[half];
    const float other = __shfl_xor_sync(0xffffffffu, odd ? early : late, 4);
    store_score(rows, row + 8 * half, state, odd ? other : early);
    store_score(rows, row + 8 * half + 1, state, odd ? late : other);
  }
  mixture.first_held = -1;
}

// Merges and holds four states, of which each ends with one of two tiles. Returns false if the tiles are not such, or the
// states do not follow each other.
__device__ __forceinline__ bool hold_tiles(const float (&d)[kFewProductTiles][4], uint32_t ends, int32_t states,
                                           const GmmRows &rows, uint32_t first_row, Mixture &mixture) {
  if (((ends ^ ends >> 1) & 0x55) != 0x55) return false;
  const uint32_t lane = threadIdx.x % kWarp;
  const int32_t first = __shfl_sync(0xffffffffu, states, static_cast<int>(1 - (ends & 1)));
  const bool follows = states < 0 || states == first + __popc(ends & ((1u << lane) - 1));
  if (!__all_sync(0xffffffffu, follows)) return false;
  float natural[2];
#pragma unroll
  for (uint32_t half = 0; half < 2; ++half) {
    LogSum of[4];
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) {
      const bool is_first = (ends >> 2 * k & 1) != 0;
      of[k] = {is_first ? d[2 * k][2 * half] : d[2 * k + 1][2 * half],
               is_first ? d[2 * k][2 * half + 1] : d[2 * k + 1][2 * half + 1]};
    }
    natural[half] = log_sum_natural(log_sum_merge_four(of));
  }
  hold_states(rows, first_row, first, natural, mixture);
  return true;
}

// Mixes a state of two tiles. It leaves the log sums in the second, as mix_tiles() does. Only that has a sum to scale.
__device__ __forceinline__ void mix_pair(const float (&first)[4], float (&second)[4], const TileInfo *infos,
                                         const float (&inverse_scale)[2]) {
  const uint32_t q = threadIdx.x % 4;
  LogSum of[2];
  begin_state(first, inverse_scale, reinterpret_cast<const float2 *>(infos[0].constants)[q], of);
  add_tile(second, inverse_scale, reinterpret_cast<const float2 *>(infos[1].constants)[q], false, of);
  second[0] = of[0].reference, second[1] = of[0].sum, second[2] = of[1].reference, second[3] = of[1].sum;
}

// Adds the sums of a stage's tiles to the mixture of a warp's 16 rows, and stores the states that end. A state's log sums take
// the place of its last tile in d, so that two states are merged at once. States of two tiles each, in step with the stage,
// have a shorter way, with the same bits. kTurns: only those whose turn it is, of 1 << doubles states.
template <bool kTurns, uint32_t kTiles>
__device__ __forceinline__ void mix_tiles(float (&d)[kTiles][4], const TileInfo *infos, uint32_t n_tiles,
                                          const float (&inverse_scale)[2], uint32_t n_turns, uint32_t turn, uint32_t doubles,
                                          const GmmRows &rows, uint32_t first_row, const Scores &scores, Mixture &mixture) {
  const uint32_t lane = threadIdx.x % kWarp, q = lane % 4;
  const int32_t states = lane < n_tiles ? infos[lane].state : -1;
  uint32_t ends = uniform(__ballot_sync(0xffffffffu, states >= 0));
  constexpr uint32_t kPairs = 0xaaaaaaaau & ((1u << kTiles) - 1);  // each state has two tiles
  constexpr bool kHolds = kTiles == kFewProductTiles && !kTurns;
  if (ends == kPairs && mixture.begins != 0 && (!kTurns || (doubles != 0 && mixture.next % 2 == 0))) {
    const auto is_mine = [&](uint32_t tile) { return ((mixture.next / 2 + tile / 4) & (n_turns - 1)) == turn; };
#pragma unroll
    for (uint32_t i = 0; i < kTiles; i += 4) {
      if (kTurns && !is_mine(i)) continue;
      mix_pair(d[i], d[i + 1], &infos[i], inverse_scale);
      mix_pair(d[i + 2], d[i + 3], &infos[i + 2], inverse_scale);
    }
    if constexpr (kHolds) {
      if (hold_tiles(d, kPairs, states, rows, first_row, mixture)) return;
    }
#pragma unroll
    for (uint32_t i = 0; i < kTiles; i += 4) {
      if (kTurns && !is_mine(i)) continue;
      store_states(d[i + 1], d[i + 3], ~0u, i + (q & 2) + 1, states, scores);
    }
    if constexpr (kTurns) mixture.next += kTiles / 2;
    return;
  }
  uint32_t mine = ~0u;
  if constexpr (kTurns) {
    const uint32_t turn_of_tile = (mixture.next + __popc(ends & ((1u << lane) - 1))) >> doubles & (n_turns - 1);
    mine = uniform(__ballot_sync(0xffffffffu, lane < n_tiles && turn_of_tile == turn));
    mixture.next += __popc(ends);
  }
  const uint32_t begins = ends << 1 | mixture.begins;
  mixture.begins = begins >> n_tiles & 1;
#pragma unroll
  for (uint32_t i = 0; i < kTiles; ++i) {
    if (kTurns && (mine >> i & 1) == 0) continue;
    const float2 constant = reinterpret_cast<const float2 *>(infos[i].constants)[q];
    add_tile(d[i], inverse_scale, constant, (begins >> i & 1) != 0, mixture.of);
    d[i][0] = mixture.of[0].reference, d[i][1] = mixture.of[0].sum;
    d[i][2] = mixture.of[1].reference, d[i][3] = mixture.of[1].sum;
  }
  ends &= mine;
  if constexpr (kHolds) {
    if (hold_tiles(d, ends, states, rows, first_row, mixture)) return;
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

}  // namespace asr::cuda
