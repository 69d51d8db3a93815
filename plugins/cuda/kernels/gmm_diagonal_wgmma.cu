// SPDX-License-Identifier: Apache-2.0
// Mixtures of diagonal Gaussians (G1, G3) on Hopper's tensor cores. It computes what gmm_diagonal_tensor.cu does, with
// the products of a warpgroup, which read the model from shared memory. Double reference: tests/reference/gmm.cc,
// tolerance 2e-3.
//
// A warpgroup owns 64 rows, whose fragments stay in its registers. It takes 12 tiles of 8 Gaussians at a time from a
// ring in shared memory. Their log-sum-exp stays in registers, as in the other kernel. A block's four warpgroups have
// rows of their own. For many rows they share a stretch of the model and a ring. For up to 128 rows two share them, and
// for up to 64 each has its own. While a warpgroup takes exponentials, the tensor cores work for the others. Operands
// leave the ring when they are multiplied, constants when the exponentials are taken. Up to 32 rows of a model with
// small mixtures are in two or four warps of a warpgroup, which take the states in turn. A turn has two small states,
// which are merged and stored at once. For 33 to 64 rows of small mixtures, a kernel of its own takes 8 tiles at a
// time. That leaves registers for four scores of a row, which wait for the next four, so that a store fills sectors of
// memory. Several models in one launch have blocks of their own, about as many as their part of the work.
//
// A tile in memory: blocks of 8 values of k of its 8 Gaussians, 128 bytes each, hi of all k and then lo; apart,
// TileInfo. A halved model is without lo: half the bytes and 10 products for 14, beyond the tolerance. Floors for
// 5000 x 256 Gaussians, D = 36: 8 rows read 376 MB of model, 87 us at 4.3 TB/s. 256 rows do 224 multiply-adds a row and
// Gaussian (216 and padding). They take 186 us at the 790 TFLOPS that wgmma reaches on an H200. One exponential each
// takes 79 us.
#include <algorithm>
#include <vector>

#include "plugins/cuda/kernels/diagonal_mixing.cuh"
#include "plugins/cuda/kernels/diagonal_rows.cuh"
#include "plugins/cuda/kernels/gmm.h"
#include "plugins/cuda/kernels/hopper.cuh"

namespace asr::cuda {
namespace {

constexpr uint32_t kGroupThreads = 128, kThreads = kWarpgroups * kGroupThreads;
constexpr uint32_t kCoreBytes = 128;                // 8 Gaussians, 8 values of k
constexpr size_t kLastingBytes = size_t{48} << 20;  // second-level cache

// kHalved: a model of hi alone. A ring holds the TileInfo of one block of tiles more than of operands, which leave first.
// kTiles: of a stage.
template <int kSteps, bool kHalved, uint32_t kTiles>
struct Ring {
  static constexpr uint32_t kTileBytes = kSteps * (kHalved ? 1 : 2) * kCoreBytes, kStageBytes = kTiles * kTileBytes;
  static constexpr uint32_t kInfoBytes = kTiles * sizeof(TileInfo);
  static constexpr uint32_t kRoom = 227 * 1024 - 1024 - kWarpgroups * kInfoBytes, kFit = kRoom / (kStageBytes + kInfoBytes);
  static constexpr uint32_t kStages = kFit >= 16 ? 16 : kFit >= 8 ? kFit / 4 * 4 : kFit / 2 * 2;  // stages of a block
  static constexpr uint32_t kLeastSharing = kStages % kWarpgroups == 0 ? 1 : 2;                   // warpgroups
  static constexpr uint32_t kInfoAt = kStages * kStageBytes;
  static constexpr uint32_t kSharedBytes = kInfoAt + (kStages + kWarpgroups) * kInfoBytes;
};

// Sets d to rows times the tiles at `tiles`, an address in shared memory. Small products come first, so that the large sum is
// rounded less often.
template <int kSteps, bool kHalved, uint32_t kTiles>
__device__ __forceinline__ void start_products(float (&d)[kTiles][4], const RowFragments<kSteps, 1> &rows, uint32_t tiles) {
  constexpr int kPairs = kSteps / 2;
  constexpr uint32_t kLo = kSteps * kCoreBytes, kPair = 2 * kCoreBytes, kTileBytes = Ring<kSteps, kHalved, kTiles>::kTileBytes;
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
struct Parts {
  uint32_t n;
  bool pass;  // their tiles are more than the second-level cache keeps for the next launch
  Part of[kMostModels];
};

template <int kSteps, bool kHalved, uint32_t kTiles>
__device__ __forceinline__ void score_part(const Part &part, bool passes) {
  using R = Ring<kSteps, kHalved, kTiles>;
  constexpr bool kSectors = kTiles == kFewProductTiles;
  static_assert(!kSectors || R::kLeastSharing == 1);
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ uint64_t full[R::kStages], empty[R::kStages];
  const GmmRows &rows = part.rows;
  const uint32_t n_sharing = kSectors ? 1 : part.n_sharing, n_turns = kSectors ? 1 : part.n_turns;
  const uint32_t warp = uniform(threadIdx.x / kWarp), group = warp / 4, ring = group / n_sharing;
  // n_turns of the warps that share a ring have the same 16 rows.
  const uint32_t sharing_warp = warp % (4 * n_sharing), n_sets = 4 * n_sharing / n_turns;
  const uint32_t group_row = (blockIdx.y * n_sets + (sharing_warp & ~3u) / n_turns) * 16,
                 first_row = (blockIdx.y * n_sets + sharing_warp / n_turns) * 16, turn = sharing_warp % n_turns;
  const uint32_t number = ring * part.n_blocks + blockIdx.x - part.first_block,
                 n_takers = kWarpgroups / n_sharing * part.n_blocks;
  const uint32_t n_each = part.n_tiles / n_takers, n_more = part.n_tiles % n_takers;
  const auto begin_of = [&](uint32_t taker) { return uniform(part.state_begins[taker * n_each + min(taker, n_more)]); };
  const uint32_t begin = begin_of(number), n_tiles = begin_of(number + 1) - begin;
  const uint32_t n_blocks = (n_tiles + kTiles - 1) / kTiles;
  const uint32_t n_stages = R::kStages / (kWarpgroups / n_sharing), first_stage = ring * n_stages;
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

  RowFragments<kSteps, 1> fragments;
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
      start_products<kSteps, kHalved>(d, fragments, shared_address(memory + stage * R::kStageBytes));
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
  if constexpr (kSectors) store_held(rows, first_row, mixture);
}

// kSteps is that of all parts, or 0 if parts differ; that kernel has no register left for a choice of policy.
template <int kSteps, bool kHalved, uint32_t kTiles>
__global__ void __launch_bounds__(kThreads, 1) diagonal_wgmma_kernel(const __grid_constant__ Parts parts) {
  uint32_t i = 0;
  while (i + 1 < parts.n && blockIdx.x >= parts.of[i + 1].first_block) ++i;
  const Part &part = parts.of[i];
  if (blockIdx.y >= part.n_row_blocks) return;
  if constexpr (kSteps > 0) {
    score_part<kSteps, kHalved, kTiles>(part, parts.pass);
  } else if (part.n_steps == 4) {
    score_part<4, kHalved, kTiles>(part, false);
  } else if (part.n_steps == 9) {
    score_part<9, kHalved, kTiles>(part, false);
  } else {
    score_part<10, kHalved, kTiles>(part, false);
  }
}

template <int kSteps, bool kHalved, uint32_t kTiles>
constexpr uint32_t shared_bytes() {
  if constexpr (kSteps > 0) {
    return Ring<kSteps, kHalved, kTiles>::kSharedBytes;
  } else {
    return std::max(
        {shared_bytes<4, kHalved, kTiles>(), shared_bytes<9, kHalved, kTiles>(), shared_bytes<10, kHalved, kTiles>()});
  }
}

template <bool kHalved>
uint32_t least_sharing(uint32_t n_steps) {
  if (n_steps == 4) return Ring<4, kHalved, kProductTiles>::kLeastSharing;
  return n_steps == 9 ? Ring<9, kHalved, kProductTiles>::kLeastSharing : Ring<10, kHalved, kProductTiles>::kLeastSharing;
}

template <int kSteps, bool kHalved, uint32_t kTiles = kProductTiles>
void launch(const Parts &parts, dim3 grid, cudaStream_t stream) {
  const uint32_t n_bytes = shared_bytes<kSteps, kHalved, kTiles>();
  diagonal_wgmma_kernel<kSteps, kHalved, kTiles><<<grid, kThreads, n_bytes, stream>>>(parts);
}

// Returns true if the kernel of fewer tiles, which fills sectors, serves the jobs: a warpgroup's warps have rows of their own,
// and states are small.
bool fill_sectors(const DiagonalJob *jobs, uint32_t n_jobs) {
  return std::all_of(jobs, jobs + n_jobs, [&](const DiagonalJob &job) {
    const uint32_t n_rows = job.rows.n_rows;
    return n_rows > 32 && n_rows <= 64 && job.n_tiles <= job.rows.n_states * 3 && job.model->n_steps == jobs[0].model->n_steps;
  });
}

template <bool kHalved>
void launch_all(const DiagonalJob *jobs, uint32_t n_jobs, uint32_t n_multiprocessors, cudaStream_t stream) {
  Parts parts{};
  parts.n = n_jobs;
  std::vector<uint64_t> work;
  const bool sectors = fill_sectors(jobs, n_jobs);
  uint32_t n_row_blocks = 1, n_steps = jobs[0].model->n_steps;
  size_t n_bytes = 0;  // of all tiles
  for (uint32_t i = 0; i < n_jobs; ++i) {
    const GmmRows &rows = jobs[i].rows;
    const TensorModel &model = *jobs[i].model;
    const uint32_t n_groups = rows.n_rows <= 64 ? 1 : rows.n_rows <= 128 ? 2 : kWarpgroups;
    const uint32_t least = sectors ? 1 : least_sharing<kHalved>(model.n_steps);
    const uint32_t n_sharing = std::max(n_groups, least), n_warps = 4 * n_sharing;
    // In turn only where a block of tiles has several states.
    uint32_t n_turns = jobs[i].n_tiles <= rows.n_states * kProductTiles / 2 ? n_warps : 1;
    while (n_turns > 1 && n_warps / n_turns * 16 < rows.n_rows) n_turns /= 2;
    const uint32_t block_rows = n_warps / n_turns * 16;
    parts.of[i] = {model.fragments, model.tiles, model.dims, model.state_begins, model.n_dims, model.n_steps, jobs[i].n_tiles,
                   rows, n_sharing, n_turns, (rows.n_rows + block_rows - 1) / block_rows, 0, 0,
                   // A pair of states is merged and stored at once, but large ones would leave warps without work.
                   jobs[i].n_tiles <= rows.n_states * 3 ? 1u : 0u};
    work.push_back(uint64_t{jobs[i].n_tiles} * n_sharing * parts.of[i].n_row_blocks);
    n_row_blocks = std::max(n_row_blocks, parts.of[i].n_row_blocks);
    if (model.n_steps != n_steps) n_steps = 0;
    n_bytes += size_t{jobs[i].n_tiles} * diagonal_tile_bytes(model.n_steps) / (kHalved ? 2 : 1);
  }
  const std::vector<uint32_t> shares = share_blocks(work, n_multiprocessors);
  uint32_t n_blocks = 0;
  for (uint32_t i = 0; i < n_jobs; ++i) {
    parts.of[i].first_block = n_blocks, parts.of[i].n_blocks = shares[i];
    n_blocks += shares[i];
  }
  parts.pass = n_bytes > kLastingBytes;
  const dim3 grid(n_blocks, n_row_blocks);
  if (sectors && n_steps == 4) return launch<4, kHalved, kFewProductTiles>(parts, grid, stream);
  if (sectors && n_steps == 9) return launch<9, kHalved, kFewProductTiles>(parts, grid, stream);
  if (sectors) return launch<10, kHalved, kFewProductTiles>(parts, grid, stream);
  if (n_steps == 0) return launch<0, kHalved>(parts, grid, stream);
  if (n_steps == 4) return launch<4, kHalved>(parts, grid, stream);
  if (n_steps == 9) return launch<9, kHalved>(parts, grid, stream);
  launch<10, kHalved>(parts, grid, stream);
}

template <int kSteps, bool kHalved, uint32_t kTiles = kProductTiles>
cudaError_t prepare() {
  return cudaFuncSetAttribute(diagonal_wgmma_kernel<kSteps, kHalved, kTiles>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(shared_bytes<kSteps, kHalved, kTiles>()));
}

}  // namespace

void launch_diagonal_wgmma(const DiagonalJob *jobs, uint32_t n_jobs, bool halved, uint32_t n_multiprocessors,
                           cudaStream_t stream) {
  (halved ? launch_all<true> : launch_all<false>)(jobs, n_jobs, n_multiprocessors, stream);
}

cudaError_t prepare_diagonal_wgmma() {
  for (const cudaError_t status :
       {prepare<0, false>(), prepare<4, false>(), prepare<9, false>(), prepare<10, false>(), prepare<0, true>(),
        prepare<4, true>(), prepare<9, true>(), prepare<10, true>(), prepare<4, false, kFewProductTiles>(),
        prepare<9, false, kFewProductTiles>(), prepare<10, false, kFewProductTiles>(), prepare<4, true, kFewProductTiles>(),
        prepare<9, true, kFewProductTiles>(), prepare<10, true, kFewProductTiles>()}) {
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace asr::cuda
