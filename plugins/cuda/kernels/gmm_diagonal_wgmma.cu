// SPDX-License-Identifier: Apache-2.0
// Mixtures of diagonal Gaussians (G1, G3) on Hopper's tensor cores. It computes what gmm_diagonal_tensor.cu does, with
// the products of a warpgroup, which read the model from shared memory. Double reference: tests/reference/gmm.cc,
// tolerance 2e-3.
//
// A warpgroup owns 64 rows, whose fragments stay in its registers. It takes 12 tiles of 8 Gaussians at a time from a
// ring in shared memory. Their log-sum-exp stays in registers, as in the other kernel. A block's four warpgroups have
// rows of their own. For many rows they share a stretch of the model and a ring. For up to 128 rows two share them, and
// for up to 64 each has its own. While a warpgroup takes exponentials, the tensor cores work for the others. Several
// models in one launch have blocks of their own, about as many as their part of the work. A tile in memory: blocks of 8
// values of k of its 8 Gaussians, 128 bytes each, hi of all k and then lo; TileInfo. A halved model is without lo: half
// the bytes and 10 products for 14, beyond the tolerance. Floors for 5000 x 256 Gaussians, D = 36: 8 rows read 376 MB
// of model, 87 us at 4.3 TB/s. 256 rows do 224 multiply-adds a row and Gaussian (216 and padding). They take 186 us at
// the 790 TFLOPS that wgmma reaches on an H200. One exponential each takes 79 us.
#include <algorithm>

#include "plugins/cuda/kernels/diagonal_rows.cuh"
#include "plugins/cuda/kernels/gmm.h"
#include "plugins/cuda/kernels/hopper.cuh"
#include "plugins/cuda/kernels/mixture.cuh"

namespace asr::cuda {
namespace {

constexpr uint32_t kWarp = 32, kGroupThreads = 128, kThreads = kWarpgroups * kGroupThreads;
constexpr uint32_t kCoreBytes = 128;  // 8 Gaussians, 8 values of k

// kHalved: a model of hi alone.
template <int kSteps, bool kHalved>
struct Ring {
  static constexpr uint32_t kTileBytes = kSteps * (kHalved ? 1 : 2) * kCoreBytes + sizeof(TileInfo),
                            kStageBytes = kProductTiles * kTileBytes;
  static constexpr uint32_t kRoom = 227 * 1024 - 1024, kFit = kRoom / kStageBytes / 2 * 2;
  static constexpr uint32_t kStages = kFit < 16 ? kFit : 16;                     // stages of all rings of a block
  static constexpr uint32_t kLeastSharing = kStages % kWarpgroups == 0 ? 1 : 2;  // warpgroups
  static constexpr uint32_t kSharedBytes = kStages * kStageBytes;
};

// Sets d to rows times the tiles at `tiles`, an address in shared memory. Small products come first, so that the large sum is
// rounded less often.
template <int kSteps, bool kHalved>
__device__ __forceinline__ void start_products(float (&d)[kProductTiles][4], const RowFragments<kSteps, 1> &rows,
                                               uint32_t tiles) {
  constexpr int kPairs = kSteps / 2;
  constexpr uint32_t kLo = kSteps * kCoreBytes, kPair = 2 * kCoreBytes;
  const uint64_t operand = operand_of(kCoreBytes, Ring<kSteps, kHalved>::kTileBytes);
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
    multiply<true>(d, both, operand_at(operand_of(kLo, Ring<kSteps, kHalved>::kTileBytes), tiles + kPairs * kPair));
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

// Adds the sums of up to 12 tiles to the mixture of a warp's 16 rows.
template <int kSteps, bool kHalved>
__device__ __forceinline__ void mix_tiles(const float (&d)[kProductTiles][4], const unsigned char *tiles, uint32_t n_tiles,
                                          const float (&inverse_scale)[1][2], const GmmRows &rows, uint32_t first_row,
                                          RowLogSums<1> &mixture) {
#pragma unroll
  for (uint32_t i = 0; i < kProductTiles; ++i) {
    if (i >= n_tiles) continue;
    const auto *const info = reinterpret_cast<const TileInfo *>(tiles + (i + 1) * Ring<kSteps, kHalved>::kTileBytes) - 1;
    const float2 constant = reinterpret_cast<const float2 *>(info->constants)[threadIdx.x % 4];
    mixture.add(reinterpret_cast<const float(&)[1][4]>(d[i]), inverse_scale, constant);
    if (info->state >= 0) mixture.store(rows, first_row, static_cast<uint32_t>(info->state));
  }
}

// Place is a stage of a ring, and whether its turn is an odd one.
struct Place {
  uint32_t slot = 0, odd = 0;
  __device__ __forceinline__ void next(uint32_t n_slots) {
    if (++slot == n_slots) slot = 0, odd ^= 1;
  }
};

// Part is one model of a launch. Its stretches are shared out over the blocks from first_block on.
struct Part {
  TensorModel model;
  GmmRows rows;
  uint32_t n_sharing, n_row_blocks, first_block, n_blocks;
};
struct Parts {
  uint32_t n;
  Part of[kMostModels];
};

template <int kSteps, bool kHalved>
__device__ __forceinline__ void score_part(const Part &part) {
  using R = Ring<kSteps, kHalved>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ uint64_t full[R::kStages], empty[R::kStages];
  const TensorModel &model = part.model;
  const GmmRows &rows = part.rows;
  const uint32_t n_sharing = part.n_sharing;
  // A shuffle tells the compiler that a value is the same for all lanes.
  const auto uniform = [](uint32_t value) { return __shfl_sync(0xffffffffu, value, 0); };
  const uint32_t warp = uniform(threadIdx.x / kWarp), group = warp / 4, ring = group / n_sharing;
  const uint32_t group_row = (blockIdx.y * n_sharing + group % n_sharing) * 64, first_row = group_row + warp % 4 * 16;
  const uint32_t number = ring * part.n_blocks + blockIdx.x - part.first_block,
                 n_takers = kWarpgroups / n_sharing * part.n_blocks;
  const auto begin_of = [&](uint32_t taker) {
    const uint32_t index = n_sharing / 2;
    return uniform(model.stretches[index][taker * model.n_stretches[index] / n_takers]);
  };
  const uint32_t begin = begin_of(number), n_tiles = begin_of(number + 1) - begin;
  const uint32_t n_blocks = (n_tiles + kProductTiles - 1) / kProductTiles;
  const uint32_t n_stages = R::kStages / (kWarpgroups / n_sharing), first_stage = ring * n_stages;
  const auto tiles_of = [&](uint32_t block) { return min(kProductTiles, n_tiles - block * kProductTiles); };
  if (threadIdx.x < R::kStages) {
    barrier_init(&full[threadIdx.x], 1);
    barrier_init(&empty[threadIdx.x], n_sharing * kGroupThreads / kWarp);
    barrier_init_fence();
  }
  __syncthreads();

  // One thread of a ring's readers fills it, a stage or two behind the reader, so that others have left it too.
  const uint32_t behind = n_stages > 4 ? 2 : 1;
  const auto *const model_bytes = reinterpret_cast<const unsigned char *>(model.fragments) + size_t{begin} * R::kTileBytes;
  Place filling;
  const auto fill = [&](uint32_t block) {
    if (block < n_blocks && threadIdx.x % (n_sharing * kGroupThreads) == 0) {
      const uint32_t stage = first_stage + filling.slot, n_bytes = tiles_of(block) * R::kTileBytes;
      barrier_wait(&empty[stage], filling.odd ^ 1);
      barrier_expect(&full[stage], n_bytes);
      copy_bulk(memory + stage * R::kStageBytes, model_bytes + size_t{block} * R::kStageBytes, n_bytes, &full[stage]);
    }
    __syncwarp();
    filling.next(n_stages);
  };
  for (uint32_t block = 0; block < n_stages; ++block) fill(block);

  RowFragments<kSteps, 1> fragments;
  fragments.load(model, rows, first_row);
  RowLogSums<1> mixture;
  mixture.clear();
  Place place;
  for (uint32_t block = 0; block < n_blocks; ++block) {
    if (block >= behind) fill(block - behind + n_stages);
    const uint32_t stage = first_stage + place.slot;
    const unsigned char *const tiles = memory + stage * R::kStageBytes;
    barrier_wait(&full[stage], place.odd);
    if (group_row < rows.n_rows) {
      float d[kProductTiles][4];
      start_products<kSteps, kHalved>(d, fragments, shared_address(tiles));
      wait_products(d);
      if (first_row < rows.n_rows)
        mix_tiles<kSteps, kHalved>(d, tiles, tiles_of(block), fragments.inverse_scale, rows, first_row, mixture);
    }
    __syncwarp();
    if (threadIdx.x % kWarp == 0) barrier_arrive(&empty[stage]);
    place.next(n_stages);
  }
}

// kSteps is that of all parts, or 0 if parts differ.
template <int kSteps, bool kHalved>
__global__ void __launch_bounds__(kThreads, 1) diagonal_wgmma_kernel(const __grid_constant__ Parts parts) {
  uint32_t i = 0;
  while (i + 1 < parts.n && blockIdx.x >= parts.of[i + 1].first_block) ++i;
  const Part &part = parts.of[i];
  if (blockIdx.y >= part.n_row_blocks) return;
  if constexpr (kSteps > 0) {
    score_part<kSteps, kHalved>(part);
  } else if (part.model.n_steps == 4) {
    score_part<4, kHalved>(part);
  } else if (part.model.n_steps == 9) {
    score_part<9, kHalved>(part);
  } else {
    score_part<10, kHalved>(part);
  }
}

template <int kSteps, bool kHalved>
constexpr uint32_t shared_bytes() {
  if constexpr (kSteps > 0) {
    return Ring<kSteps, kHalved>::kSharedBytes;
  } else {
    return std::max({shared_bytes<4, kHalved>(), shared_bytes<9, kHalved>(), shared_bytes<10, kHalved>()});
  }
}

template <bool kHalved>
uint32_t least_sharing(uint32_t n_steps) {
  if (n_steps == 4) return Ring<4, kHalved>::kLeastSharing;
  return n_steps == 9 ? Ring<9, kHalved>::kLeastSharing : Ring<10, kHalved>::kLeastSharing;
}

template <int kSteps, bool kHalved>
void launch(const Parts &parts, dim3 grid, cudaStream_t stream) {
  diagonal_wgmma_kernel<kSteps, kHalved><<<grid, kThreads, shared_bytes<kSteps, kHalved>(), stream>>>(parts);
}

template <bool kHalved>
void launch_all(const DiagonalJob *jobs, uint32_t n_jobs, uint32_t n_multiprocessors, cudaStream_t stream) {
  Parts parts{};
  parts.n = n_jobs;
  uint64_t work[kMostModels] = {}, all_work = 0;
  uint32_t n_row_blocks = 1, n_steps = jobs[0].model->n_steps;
  for (uint32_t i = 0; i < n_jobs; ++i) {
    const GmmRows &rows = jobs[i].rows;
    const uint32_t n_groups = rows.n_rows <= 64 ? 1 : rows.n_rows <= 128 ? 2 : kWarpgroups;
    const uint32_t n_sharing = std::max(n_groups, least_sharing<kHalved>(jobs[i].model->n_steps));
    parts.of[i] = {*jobs[i].model, rows, n_sharing, (rows.n_rows + 64 * n_sharing - 1) / (64 * n_sharing), 0, 0};
    work[i] = uint64_t{jobs[i].n_tiles} * n_sharing;
    all_work += work[i];
    n_row_blocks = std::max(n_row_blocks, parts.of[i].n_row_blocks);
    if (jobs[i].model->n_steps != n_steps) n_steps = 0;
  }
  uint32_t n_blocks = 0;
  for (uint32_t i = 0; i < n_jobs; ++i) {
    parts.of[i].first_block = n_blocks;
    parts.of[i].n_blocks = std::max<uint32_t>(1, static_cast<uint32_t>(n_multiprocessors * work[i] / all_work));
    n_blocks += parts.of[i].n_blocks;
  }
  const dim3 grid(n_blocks, n_row_blocks);
  if (n_steps == 0) return launch<0, kHalved>(parts, grid, stream);
  if (n_steps == 4) return launch<4, kHalved>(parts, grid, stream);
  if (n_steps == 9) return launch<9, kHalved>(parts, grid, stream);
  launch<10, kHalved>(parts, grid, stream);
}

template <int kSteps, bool kHalved>
cudaError_t prepare() {
  return cudaFuncSetAttribute(diagonal_wgmma_kernel<kSteps, kHalved>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(shared_bytes<kSteps, kHalved>()));
}

}  // namespace

void launch_diagonal_wgmma(const DiagonalJob *jobs, uint32_t n_jobs, bool halved, uint32_t n_multiprocessors,
                           cudaStream_t stream) {
  (halved ? launch_all<true> : launch_all<false>)(jobs, n_jobs, n_multiprocessors, stream);
}

cudaError_t prepare_diagonal_wgmma() {
  for (const cudaError_t status : {prepare<0, false>(), prepare<4, false>(), prepare<9, false>(), prepare<10, false>(),
                                   prepare<0, true>(), prepare<4, true>(), prepare<9, true>(), prepare<10, true>()}) {
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace asr::cuda
