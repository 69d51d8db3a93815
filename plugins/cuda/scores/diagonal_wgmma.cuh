// SPDX-License-Identifier: Apache-2.0
// The way of a block through the tiles of diagonal Gaussians, for the kernels gmm_diagonal_wgmma.cu of the CUDA and the OpenCL
// back end. CUDA's says how it works.
#pragma once

#include <type_traits>

#include "plugins/cuda/scores/diagonal_mixing.cuh"
#include "plugins/cuda/scores/diagonal_rows.cuh"
#include "plugins/cuda/scores/gmm_launch.h"
#include "plugins/cuda/scores/hopper.cuh"

namespace asr::gpu {

constexpr uint32_t kGroupThreads = 128;  // of a warpgroup
constexpr uint32_t kCoreBytes = 128;     // 8 Gaussians, 8 values of k

// Ring has the stages that kBytes of shared memory hold, kTiles tiles each, for the kGroups warpgroups of a block. kHalved: a
// model of hi alone. It holds the TileInfo of one block of tiles more than of operands, which leave first. kFours: the model's
// states lie by fours.
template <int kSteps_, bool kHalved_, bool kFours_, uint32_t kTiles_, uint32_t kGroups_, uint32_t kBytes>
struct Ring {
  static constexpr int kSteps = kSteps_;
  static constexpr bool kHalved = kHalved_, kFours = kFours_;
  static constexpr uint32_t kTiles = kTiles_, kGroups = kGroups_;
  static constexpr uint32_t kTileBytes = kSteps * (kHalved ? 1 : 2) * kCoreBytes, kStageBytes = kTiles * kTileBytes;
  static constexpr uint32_t kInfoBytes = kTiles * sizeof(TileInfo), kBarrierBytes = 2 * sizeof(uint64_t);
  static constexpr uint32_t kFit = (kBytes - kInfoBytes) / (kStageBytes + kInfoBytes + kBarrierBytes);
  static constexpr uint32_t kStages = kFit < 16 ? kFit : 16;
  static constexpr uint32_t kInfoAt = kStages * kStageBytes, kBarriersAt = kInfoAt + (kStages + 1) * kInfoBytes;
  static constexpr uint32_t kSharedBytes = kBarriersAt + kStages * kBarrierBytes;
  static_assert(kStages >= 2 && kStages <= kGroupThreads && kBarriersAt % sizeof(uint64_t) == 0);
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

// Place is a stage of the ring, and whether its turn is an odd one.
struct Place {
  uint32_t stage = 0, odd = 0;
  __device__ __forceinline__ void next(uint32_t n_stages) {
    if (++stage == n_stages) stage = 0, odd ^= 1;
  }
  __device__ __forceinline__ void back(uint32_t n_stages) {
    if (stage == 0) stage = n_stages, odd ^= 1;
    --stage;
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
  uint32_t n_row_blocks, first_block, n_blocks;
  uint32_t four_tiles;  // tiles of four states, if they lie by fours
};

// Scores the block's stretch of a part. `memory` has R::kSharedBytes. passes: the tiles leave the second-level cache first.
template <typename R>
__device__ __forceinline__ void score_part(const Part &part, bool passes, unsigned char *memory) {
  constexpr uint32_t kTiles = R::kTiles, kStages = R::kStages;
  auto *const full = reinterpret_cast<uint64_t *>(memory + R::kBarriersAt), *const empty = full + kStages;
  const GmmRows &rows = part.rows;
  const uint32_t warp = uniform(threadIdx.x / kWarp);
  const uint32_t group_row = (blockIdx.y * R::kGroups + warp / 4) * 64, first_row = group_row + warp % 4 * 16;
  const uint32_t number = blockIdx.x - part.first_block, n_each = part.n_tiles / part.n_blocks,
                 n_more = part.n_tiles % part.n_blocks;
  const auto begin_of = [&](uint32_t block) { return uniform(part.state_begins[block * n_each + min(block, n_more)]); };
  const uint32_t begin = begin_of(number), n_tiles = begin_of(number + 1) - begin;
  const uint32_t n_blocks = (n_tiles + kTiles - 1) / kTiles;  // of tiles
  const auto tiles_of = [&](uint32_t block) { return min(kTiles, n_tiles - block * kTiles); };
  if (threadIdx.x < kStages) {
    barrier_init(&full[threadIdx.x], 1);
    barrier_init(&empty[threadIdx.x], R::kGroups * kGroupThreads / kWarp);
    barrier_init_fence();
  }
  __syncthreads();

  // One thread fills the ring: a block late if warpgroups share it, so that all have left the place.
  constexpr uint32_t kBehind = R::kGroups > 1 ? 1 : 0;
  unsigned char *const ring_infos = memory + R::kInfoAt;
  const auto *const model_bytes = reinterpret_cast<const unsigned char *>(part.fragments) + size_t{begin} * R::kTileBytes;
  const TileInfo *const model_infos = part.infos + begin;
  const bool fills = threadIdx.x == 0;
  const auto fill = [&](uint32_t block, uint32_t stage, uint32_t info) {
    const uint32_t n = tiles_of(block);
    const uint64_t policy = cache_policy(passes);
    barrier_expect(&full[stage], n * (R::kTileBytes + uint32_t(sizeof(TileInfo))));
    copy_bulk(memory + stage * R::kStageBytes, model_bytes + size_t{block} * R::kStageBytes, n * R::kTileBytes, &full[stage],
              policy);
    copy_bulk(ring_infos + info * R::kInfoBytes, model_infos + size_t{block} * kTiles, n * uint32_t(sizeof(TileInfo)),
              &full[stage], policy);
  };
  for (uint32_t block = 0; fills && block < min(kStages, n_blocks); ++block) fill(block, block, block);
  __syncwarp();

  RowFragments<R::kSteps, 1> fragments;
  fragments.load(part.dims, part.n_dims, rows, first_row);
  const uint32_t row = first_row + threadIdx.x % 2 * 8 + threadIdx.x % kWarp / 4;
  [[maybe_unused]] const Scores scores = {rows.scores + size_t{row} * rows.n_states, row < rows.n_rows, rows.add};
  std::conditional_t<R::kFours, HeldStates, Mixture> mixture;
  Place place;
  uint32_t info = 0;
  for (uint32_t block = 0; block < n_blocks; ++block) {
    const auto *const infos = reinterpret_cast<const TileInfo *>(ring_infos + info * R::kInfoBytes);
    barrier_wait(&full[place.stage], place.odd);
    float d[kTiles][4];
    if (group_row < rows.n_rows) {
      start_products<R>(d, fragments, shared_address(memory + place.stage * R::kStageBytes));
      wait_products(d);
    }
    __syncwarp();
    if (threadIdx.x % kWarp == 0) barrier_arrive(&empty[place.stage]);
    if (fills && block + 1 > kBehind && block - kBehind + kStages < n_blocks) {
      Place left = place;
      if (kBehind > 0) left.back(kStages);
      barrier_wait(&empty[left.stage], left.odd);
      const uint32_t next_info = info + kStages - kBehind;
      fill(block - kBehind + kStages, left.stage, next_info > kStages ? next_info - kStages - 1 : next_info);
    }
    __syncwarp();
    if (first_row < rows.n_rows) {
      if constexpr (R::kFours) {
        mix_fours(d, part.four_tiles, infos, tiles_of(block), fragments.inverse_scale[0], rows, first_row, mixture);
      } else {
        mix_tiles(d, infos, tiles_of(block), fragments.inverse_scale[0], scores, mixture);
      }
    }
    place.next(kStages);
    info = info < kStages ? info + 1 : 0;
  }
  if constexpr (R::kFours) store_held(rows, first_row, mixture);
}

}  // namespace asr::gpu
