// SPDX-License-Identifier: Apache-2.0
// The way of a block through the tiles of diagonal Gaussians, for the kernels gmm_diagonal_wgmma.cu of the CUDA and the OpenCL
// back end. CUDA's says how it works.
#pragma once

#include "plugins/cuda/kernels/diagonal_mixing.cuh"
#include "plugins/cuda/kernels/diagonal_rows.cuh"
#include "plugins/cuda/kernels/gmm.h"
#include "plugins/cuda/kernels/hopper.cuh"

namespace asr::cuda {

constexpr uint32_t kGroupThreads = 128;  // of a warpgroup
constexpr uint32_t kCoreBytes = 128;     // 8 Gaussians, 8 values of k

// BlockShape is a block of threads: its warpgroups, how many of them share a ring (0: the part of a launch says so), and its
// shared memory. kInTurns: warps may take states in turn.
template <uint32_t kGroups_, uint32_t kSharing_, bool kInTurns_, uint32_t kBytes_>
struct BlockShape {
  static constexpr uint32_t kGroups = kGroups_, kSharing = kSharing_, kBytes = kBytes_;
  static constexpr uint32_t kMostRings = kSharing == 0 ? kGroups : kGroups / kSharing;
  static constexpr bool kInTurns = kInTurns_;
};

// Ring has the stages of kTiles tiles that a block's shared memory holds. kHalved: a model of hi alone. A ring holds the
// TileInfo of one block of tiles more than of operands, which leave first.
template <int kSteps_, bool kHalved_, uint32_t kTiles_, typename Shape_>
struct Ring {
  using Shape = Shape_;
  static constexpr int kSteps = kSteps_;
  static constexpr bool kHalved = kHalved_, kHolds = kTiles_ == kFewProductTiles && !Shape::kInTurns;
  static constexpr uint32_t kTiles = kTiles_;
  static constexpr uint32_t kTileBytes = kSteps * (kHalved ? 1 : 2) * kCoreBytes, kStageBytes = kTiles * kTileBytes;
  static constexpr uint32_t kInfoBytes = kTiles * sizeof(TileInfo);
  static constexpr uint32_t kRoom = Shape::kBytes - Shape::kMostRings * kInfoBytes, kFit = kRoom / (kStageBytes + kInfoBytes);
  // Stages of a block, which its rings share.
  static constexpr uint32_t kStages = kFit >= 16 ? 16 : Shape::kMostRings == 1 ? kFit : kFit >= 8 ? kFit / 4 * 4 : kFit / 2 * 2;
  static constexpr uint32_t kLeastSharing = kStages % Shape::kMostRings == 0 ? 1 : 2;  // warpgroups
  static constexpr uint32_t kInfoAt = kStages * kStageBytes;
  static constexpr uint32_t kSharedBytes = kInfoAt + (kStages + Shape::kMostRings) * kInfoBytes;
};

// Sets d to rows times the tiles at `tiles`, an address in shared memory. Small products come first, so that the large sum is
// rounded less often.
template <typename Ring>
__device__ __forceinline__ void start_products(float (&d)[Ring::kTiles][4], const RowFragments<Ring::kSteps, 1> &rows,
                                               uint32_t tiles) {
  constexpr bool kHalved = Ring::kHalved;
  constexpr int kSteps = Ring::kSteps, kPairs = kSteps / 2;
  constexpr uint32_t kLo = kSteps * kCoreBytes, kPair = 2 * kCoreBytes, kTileBytes = Ring::kTileBytes;
  const uint64_t operand = operand_of(kCoreBytes, kTileBytes);
  begin_products();
  if constexpr (!kHalved) {
    multiply<false>(d, rows.hi[0][0], operand_at(operand, tiles + kLo));
    multiply<true>(d, rows.lo[0][0], operand_at(operand, tiles));
  } else {
    multiply<false>(d, rows.lo[0][0], operand_at(operand, tiles));
  }
#pragma unroll
  for (int p = 1; p < kPairs; ++p) {
    if constexpr (!kHalved) multiply<true>(d, rows.hi[0][p], operand_at(operand, tiles + kLo + p * kPair));
    multiply<true>(d, rows.lo[0][p], operand_at(operand, tiles + p * kPair));
  }
  if constexpr (kSteps % 2 != 0 && !kHalved) {  // lo hi and hi lo of the last 8 values of k make one product
    const uint32_t both[4] = {rows.last_lo[0][0], rows.last_lo[0][1], rows.last_hi[0][0], rows.last_hi[0][1]};
    multiply<true>(d, both, operand_at(operand_of(kLo, kTileBytes), tiles + kPairs * kPair));
  }
  if constexpr (kSteps % 2 != 0) {  // zeros meet the values of k before the last
    const uint32_t last_lo[4] = {0, 0, rows.last_lo[0][0], rows.last_lo[0][1]};
    const uint32_t last_hi[4] = {0, 0, rows.last_hi[0][0], rows.last_hi[0][1]};
    if constexpr (kHalved) multiply<true>(d, last_lo, operand_at(operand, tiles + kPairs * kPair - kCoreBytes));
    multiply<true>(d, last_hi, operand_at(operand, tiles + kPairs * kPair - kCoreBytes));
  }
#pragma unroll
  for (int p = 0; p < kPairs; ++p) multiply<true>(d, rows.hi[0][p], operand_at(operand, tiles + p * kPair));
  commit_products();
}

// Place is a stage of a ring, and whether its turn is an odd one.
struct Place {
  uint32_t slot = 0, odd = 0;
  __device__ __forceinline__ void next(uint32_t n_slots) {
    if (++slot == n_slots) slot = 0, odd ^= 1;
  }
  __device__ __forceinline__ void back(uint32_t n_slots) {
    if (slot == 0) slot = n_slots, odd ^= 1;
    --slot;
  }
};

// Part is one model of a launch. Its tiles are shared out over the blocks from first_block on.
struct Part {
  const uint4 *fragments;
  const TileInfo *infos;
  const GmmDim *dims;
  const uint32_t *state_begins;
  uint32_t n_dims, n_steps, n_tiles;
  GmmRows rows;
  uint32_t n_sharing, n_turns, n_row_blocks, first_block, n_blocks;
  uint32_t doubles;  // 1: a turn has two states
};
// Scores the block's stretches of a part. `memory` has R::kSharedBytes. passes: the tiles leave the second-level cache first.
template <typename R>
__device__ __forceinline__ void score_part(const Part &part, bool passes, unsigned char *memory) {
  using Shape = typename R::Shape;
  constexpr uint32_t kTiles = R::kTiles;
  static_assert(Shape::kSharing != 1 || R::kLeastSharing == 1);
  __shared__ uint64_t full[R::kStages], empty[R::kStages];
  const GmmRows &rows = part.rows;
  const uint32_t n_sharing = Shape::kSharing > 0 ? Shape::kSharing : part.n_sharing;
  const uint32_t n_turns = Shape::kInTurns ? part.n_turns : 1;
  const uint32_t warp = uniform(threadIdx.x / kWarp), group = warp / 4, ring = group / n_sharing;
  // n_turns of the warps that share a ring have the same 16 rows.
  const uint32_t sharing_warp = warp % (4 * n_sharing), n_sets = 4 * n_sharing / n_turns;
  const uint32_t group_row = (blockIdx.y * n_sets + (sharing_warp & ~3u) / n_turns) * 16,
                 first_row = (blockIdx.y * n_sets + sharing_warp / n_turns) * 16, turn = sharing_warp % n_turns;
  const uint32_t number = ring * part.n_blocks + blockIdx.x - part.first_block,
                 n_takers = Shape::kGroups / n_sharing * part.n_blocks;
  const uint32_t n_each = part.n_tiles / n_takers, n_more = part.n_tiles % n_takers;
  const auto begin_of = [&](uint32_t taker) { return uniform(part.state_begins[taker * n_each + min(taker, n_more)]); };
  const uint32_t begin = begin_of(number), n_tiles = begin_of(number + 1) - begin;
  const uint32_t n_blocks = (n_tiles + kTiles - 1) / kTiles;
  const uint32_t n_stages = R::kStages / (Shape::kGroups / n_sharing), first_stage = ring * n_stages;
  const auto tiles_of = [&](uint32_t block) { return min(kTiles, n_tiles - block * kTiles); };
  if (threadIdx.x < R::kStages) {
    barrier_init(&full[threadIdx.x], 1);
    barrier_init(&empty[threadIdx.x], n_sharing * kGroupThreads / kWarp);
    barrier_init_fence();
  }
  __syncthreads();

  // One thread of those that share a ring fills it: a block late if warpgroups share it, so that all have left the place.
  const uint32_t behind = n_sharing > 1 ? 1 : 0;
  unsigned char *const ring_infos = memory + R::kInfoAt + (first_stage + ring) * R::kInfoBytes;
  const auto *const model_bytes = reinterpret_cast<const unsigned char *>(part.fragments) + size_t{begin} * R::kTileBytes;
  const TileInfo *const model_infos = part.infos + begin;
  const bool fills = threadIdx.x % (n_sharing * kGroupThreads) == 0;
  const auto fill = [&](uint32_t block, uint32_t slot, uint32_t info) {
    const uint32_t stage = first_stage + slot, n = tiles_of(block);
    const uint64_t policy = cache_policy(passes);
    barrier_expect(&full[stage], n * (R::kTileBytes + uint32_t(sizeof(TileInfo))));
    copy_bulk(memory + stage * R::kStageBytes, model_bytes + size_t{block} * R::kStageBytes, n * R::kTileBytes, &full[stage],
              policy);
    copy_bulk(ring_infos + info * R::kInfoBytes, model_infos + size_t{block} * kTiles, n * uint32_t(sizeof(TileInfo)),
              &full[stage], policy);
  };
  for (uint32_t block = 0; fills && block < min(n_stages, n_blocks); ++block) fill(block, block, block);
  __syncwarp();

  RowFragments<R::kSteps, 1> fragments;
  fragments.load(part.dims, part.n_dims, rows, first_row);
  const uint32_t row = first_row + threadIdx.x % 2 * 8 + threadIdx.x % kWarp / 4;
  const Scores scores = {rows.scores + size_t{row} * rows.n_states, row < rows.n_rows, rows.add};
  Mixture mixture;
  Place place;
  uint32_t info = 0;
  for (uint32_t block = 0; block < n_blocks; ++block) {
    const uint32_t stage = first_stage + place.slot;
    const auto *const infos = reinterpret_cast<const TileInfo *>(ring_infos + info * R::kInfoBytes);
    barrier_wait(&full[stage], place.odd);
    float d[kTiles][4];
    if (group_row < rows.n_rows) {
      start_products<R>(d, fragments, shared_address(memory + stage * R::kStageBytes));
      wait_products(d);
    }
    __syncwarp();
    if (threadIdx.x % kWarp == 0) barrier_arrive(&empty[stage]);
    if (fills && block + 1 > behind && block - behind + n_stages < n_blocks) {
      Place left = place;
      if (behind > 0) left.back(n_stages);
      barrier_wait(&empty[first_stage + left.slot], left.odd);
      const uint32_t next_info = info + n_stages - behind;
      fill(block - behind + n_stages, left.slot, next_info > n_stages ? next_info - n_stages - 1 : next_info);
    }
    __syncwarp();
    if (first_row < rows.n_rows) {
      const float(&scale)[2] = fragments.inverse_scale[0];
      if (n_turns == 1) {
        mix_tiles<false>(d, infos, tiles_of(block), scale, 1, 0, 0, rows, first_row, scores, mixture);
      } else {
        mix_tiles<true>(d, infos, tiles_of(block), scale, n_turns, turn, part.doubles, rows, first_row, scores, mixture);
      }
    }
    place.next(n_stages);
    info = info < n_stages ? info + 1 : 0;
  }
  if constexpr (R::kHolds) store_held(rows, first_row, mixture);
}

}  // namespace asr::cuda
