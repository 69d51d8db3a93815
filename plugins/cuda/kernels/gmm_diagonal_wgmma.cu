// SPDX-License-Identifier: Apache-2.0
// Mixtures of diagonal Gaussians (G1, G3) on Hopper's tensor cores: what gmm_diagonal_tensor.cu computes, with the products of
// a warpgroup, which read the model from shared memory; double reference tests/reference/gmm.cc, tolerance 2e-3.
//
// A warpgroup owns 64 rows, whose fragments stay in its registers, and takes 12 tiles of 8 Gaussians at a time from a ring in
// shared memory; their log-sum-exp stays in registers, as in the other kernel. A block's four warpgroups have rows of their own
// and share a stretch of the model and a ring for many rows; for up to 128 or 64 rows, two have or each has a stretch and a
// ring. While a warpgroup takes exponentials, the tensor cores work for the others.
// A tile in memory: blocks of 8 values of k of its 8 Gaussians, 128 bytes each, hi of all k and then lo; TileInfo. A halved
// model is without lo: half the bytes and 10 products for 14, beyond the tolerance. Floors for 5000 x 256 Gaussians, D = 36: 8
// rows read 376 MB of model, 87 us at 4.3 TB/s; 256 rows do 224 multiply-adds a row and Gaussian (216 and padding), 186 us at
// the 790 TFLOPS that wgmma reaches on an H200, and one exponential each, 79 us.
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
  static constexpr uint32_t kStages = kFit < 16 ? kFit : 16;                     // of all rings of a block
  static constexpr uint32_t kLeastSharing = kStages % kWarpgroups == 0 ? 1 : 2;  // warpgroups
  static constexpr uint32_t kSharedBytes = kStages * kStageBytes;
};

// d = rows times the tiles at `tiles`, which is an address in shared memory; small products first: the large sum is then
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

// The sums of up to 12 tiles into the mixture of a warp's 16 rows.
template <int kSteps, bool kHalved>
__device__ __forceinline__ void mix_tiles(const float (&d)[kProductTiles][4], const unsigned char *tiles, uint32_t n_tiles,
                                          const float (&inverse_scale)[1][2], const GmmRows &rows, uint32_t first_row,
                                          RowLogSums<1> &mixture) {
#pragma unroll
  for (uint32_t i = 0; i < kProductTiles; ++i) {
    if (i >= n_tiles) continue;
    const auto *const info = reinterpret_cast<const TileInfo *>(tiles + (i + 1) * Ring<kSteps, kHalved>::kTileBytes) - 1;
    const float2 constant = reinterpret_cast<const float2 *>(info->constant)[threadIdx.x % 4];
    mixture.add(reinterpret_cast<const float(&)[1][4]>(d[i]), inverse_scale, constant);
    if (info->state >= 0) mixture.store(rows, first_row, static_cast<uint32_t>(info->state));
  }
}

// A place in a ring, and whether its turn is an odd one.
struct Place {
  uint32_t slot = 0, odd = 0;
  __device__ __forceinline__ void next(uint32_t n_slots) {
    if (++slot == n_slots) slot = 0, odd ^= 1;
  }
};

template <int kSteps, bool kHalved>
__global__ void __launch_bounds__(kThreads, 1)
    diagonal_wgmma_kernel(TensorModel model, const uint32_t *stretches, uint32_t n_sharing, GmmRows rows) {
  using R = Ring<kSteps, kHalved>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ uint64_t full[R::kStages], empty[R::kStages];
  // What the compiler must know to be the same for all lanes goes through a shuffle.
  const auto uniform = [](uint32_t value) { return __shfl_sync(0xffffffffu, value, 0); };
  const uint32_t warp = uniform(threadIdx.x / kWarp), group = warp / 4, ring = group / n_sharing;
  const uint32_t group_row = (blockIdx.y * n_sharing + group % n_sharing) * 64, first_row = group_row + warp % 4 * 16;
  const uint32_t number = ring * gridDim.x + blockIdx.x, begin = uniform(stretches[number]);
  const uint32_t n_tiles = uniform(stretches[number + 1]) - begin, n_blocks = (n_tiles + kProductTiles - 1) / kProductTiles;
  const uint32_t n_stages = R::kStages / (kWarpgroups / n_sharing), first_stage = ring * n_stages;
  const auto tiles_of = [&](uint32_t block) { return min(kProductTiles, n_tiles - block * kProductTiles); };
  if (threadIdx.x < R::kStages) {
    barrier_init(&full[threadIdx.x], 1);
    barrier_init(&empty[threadIdx.x], n_sharing * kGroupThreads / kWarp);
    barrier_init_fence();
  }
  __syncthreads();

  // One thread of those that share a ring fills it, a stage or two behind the reader, so that others have left it too.
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

template <int kSteps, bool kHalved>
void launch(const TensorModel &model, const GmmRows &rows, cudaStream_t stream) {
  const uint32_t n_groups = rows.n_rows <= 64 ? 1 : rows.n_rows <= 128 ? 2 : kWarpgroups;
  const uint32_t n_sharing = n_groups < Ring<kSteps, kHalved>::kLeastSharing ? Ring<kSteps, kHalved>::kLeastSharing : n_groups,
                 index = n_sharing / 2;
  const dim3 grid(model.n_stretches[index] / (kWarpgroups / n_sharing), (rows.n_rows + 64 * n_sharing - 1) / (64 * n_sharing));
  diagonal_wgmma_kernel<kSteps, kHalved>
      <<<grid, kThreads, Ring<kSteps, kHalved>::kSharedBytes, stream>>>(model, model.stretches[index], n_sharing, rows);
}

template <int kSteps, bool kHalved>
cudaError_t prepare() {
  return cudaFuncSetAttribute(diagonal_wgmma_kernel<kSteps, kHalved>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(Ring<kSteps, kHalved>::kSharedBytes));
}

}  // namespace

void launch_diagonal_wgmma(const TensorModel &model, bool halved, const GmmRows &rows, cudaStream_t stream) {
  if (model.n_steps == 4) return (halved ? launch<4, true> : launch<4, false>)(model, rows, stream);
  if (model.n_steps == 9) return (halved ? launch<9, true> : launch<9, false>)(model, rows, stream);
  (halved ? launch<10, true> : launch<10, false>)(model, rows, stream);
}

cudaError_t prepare_diagonal_wgmma() {
  for (const cudaError_t status : {prepare<4, false>(), prepare<9, false>(), prepare<10, false>(), prepare<4, true>(),
                                   prepare<9, true>(), prepare<10, true>()}) {
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace asr::cuda
