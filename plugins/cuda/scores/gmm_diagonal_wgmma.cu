// SPDX-License-Identifier: Apache-2.0
// Mixtures of diagonal Gaussians (G1, G3) on Hopper's tensor cores. It computes what gmm_diagonal_tensor.cu does, with
// the products of a warpgroup, which read the model from shared memory. Double reference: reference/gmm.cc,
// tolerance 2e-3.
//
// A warpgroup owns 64 rows, whose fragments stay in its registers. It takes 12 tiles of 8 Gaussians at a time from a
// ring in shared memory. Their log-sum-exp stays in registers, as in the other kernel. A multiprocessor has four
// warpgroups. For many rows they are one block, have rows of their own, and share a stretch of the model and a ring. Up
// to 128 rows have blocks of two, and up to 64 blocks of one, whose smaller rings have 8 tiles at a time. While a
// warpgroup takes exponentials, the tensor cores work for the others. Operands leave the ring when they are multiplied,
// constants when the exponentials are taken. Several models in one launch have blocks of their own, about as many as
// their part of the work.
//
// The ends of states would bound small mixtures: four lanes have a row of a product, and merge their sums. So states of
// up to 16 Gaussians lie by fours, if they are of one size. The columns of a product that a lane has are all of one
// state, and no lane needs another's. 8 tiles have four such states, or eight of up to 8 Gaussians. Scores of four wait
// for the next four, so that whole sectors of memory are stored.
//
// A tile in memory: blocks of 8 values of k of its 8 Gaussians, 128 bytes each, hi of all k and then lo; apart,
// TileInfo. A halved model is without lo: half the bytes and 10 products for 14, beyond the tolerance. Floors for
// 5000 x 256 Gaussians, D = 36: 8 rows read 376 MB of model, 87 us at 4.3 TB/s. 256 rows do 224 multiply-adds a row and
// Gaussian (216 and padding). They take 186 us at the 790 TFLOPS that wgmma reaches on an H200. One exponential each
// takes 79 us.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "plugins/cuda/scores/diagonal_wgmma.cuh"
#include "plugins/cuda/scores/gmm_launch.h"

namespace asr::gpu {
namespace {

constexpr size_t kLastingBytes = size_t{48} << 20;  // second-level cache
constexpr uint32_t kGroupRows = 64;

// Up to 64 rows have blocks of one warpgroup, up to 128 of two.
constexpr uint32_t groups_of(uint32_t n_rows) { return n_rows <= kGroupRows ? 1 : n_rows <= 2 * kGroupRows ? 2 : kWarpgroups; }
constexpr uint32_t tiles_of(uint32_t n_groups, bool fours) { return n_groups == 1 || fours ? kFewProductTiles : kProductTiles; }

// A multiprocessor has 228 KiB for its four warpgroups, and takes 1 KiB of each block.
template <int kSteps, bool kHalved, bool kFours, uint32_t kGroups>
using CudaRing = Ring<kSteps, kHalved, kFours, tiles_of(kGroups, kFours), kGroups, (57 * kGroups - 1) * 1024>;

struct Parts {
  uint32_t n;
  bool pass;  // their tiles are more than the second-level cache keeps for the next launch
  Part of[kMaxModels];
};

template <int kSteps, bool kHalved, uint32_t kGroups>
__device__ __forceinline__ void score(const Part &part, bool passes, unsigned char *memory) {
  if (part.four_tiles > 0) {
    score_part<CudaRing<kSteps, kHalved, true, kGroups>>(part, passes, memory);
  } else {
    score_part<CudaRing<kSteps, kHalved, false, kGroups>>(part, passes, memory);
  }
}

// kSteps is that of all parts, or 0 if parts differ; that kernel has no register left for a choice of policy.
template <int kSteps, bool kHalved, uint32_t kGroups>
__global__ void __launch_bounds__(kGroups *kGroupThreads, kWarpgroups / kGroups)
    diagonal_wgmma_kernel(const __grid_constant__ Parts parts) {
  extern __shared__ __align__(128) unsigned char memory[];
  uint32_t i = 0;
  while (i + 1 < parts.n && blockIdx.x >= parts.of[i + 1].first_block) ++i;
  const Part &part = parts.of[i];
  if (blockIdx.y >= part.n_row_blocks) return;
  if constexpr (kSteps > 0) {
    score<kSteps, kHalved, kGroups>(part, parts.pass, memory);
  } else if (part.n_steps == 4) {
    score<4, kHalved, kGroups>(part, false, memory);
  } else if (part.n_steps == 9) {
    score<9, kHalved, kGroups>(part, false, memory);
  } else {
    score<10, kHalved, kGroups>(part, false, memory);
  }
}

template <int kSteps, bool kHalved, uint32_t kGroups>
constexpr uint32_t shared_bytes() {
  if constexpr (kSteps > 0) {
    return std::max(CudaRing<kSteps, kHalved, false, kGroups>::kSharedBytes,
                    CudaRing<kSteps, kHalved, true, kGroups>::kSharedBytes);
  } else {
    return std::max(
        {shared_bytes<4, kHalved, kGroups>(), shared_bytes<9, kHalved, kGroups>(), shared_bytes<10, kHalved, kGroups>()});
  }
}

// Calls call(steps, halved, groups), with integral constants, for a kernel.
template <bool kHalved, uint32_t kGroups, typename Call>
void with_steps(uint32_t n_steps, const Call &call) {
  const std::bool_constant<kHalved> halved;
  const std::integral_constant<uint32_t, kGroups> groups;
  if (n_steps == 0) return call(std::integral_constant<int, 0>(), halved, groups);
  if (n_steps == 4) return call(std::integral_constant<int, 4>(), halved, groups);
  if (n_steps == 9) return call(std::integral_constant<int, 9>(), halved, groups);
  call(std::integral_constant<int, 10>(), halved, groups);
}
template <uint32_t kGroups, typename Call>
void with_groups(uint32_t n_steps, bool halved, const Call &call) {
  halved ? with_steps<true, kGroups>(n_steps, call) : with_steps<false, kGroups>(n_steps, call);
}
template <typename Call>
void with_kernel(uint32_t n_steps, bool halved, uint32_t n_groups, const Call &call) {
  if (n_groups == 1) return with_groups<1>(n_steps, halved, call);
  if (n_groups == 2) return with_groups<2>(n_steps, halved, call);
  with_groups<kWarpgroups>(n_steps, halved, call);
}

}  // namespace

void launch_diagonal_wgmma(const DiagonalJob *jobs, uint32_t n_jobs, bool halved, uint32_t n_multiprocessors,
                           cudaStream_t stream) {
  Parts parts{};
  parts.n = n_jobs;
  uint32_t n_groups = 1, n_row_blocks = 1, n_steps = jobs[0].model->n_steps;
  for (uint32_t i = 0; i < n_jobs; ++i) n_groups = std::max(n_groups, groups_of(jobs[i].rows.n_rows));
  std::vector<uint64_t> work;
  size_t n_bytes = 0;  // of all tiles
  for (uint32_t i = 0; i < n_jobs; ++i) {
    const GmmRows &rows = jobs[i].rows;
    const TensorModel &model = *jobs[i].model;
    const uint32_t block_rows = n_groups * kGroupRows, n_part_blocks = (rows.n_rows + block_rows - 1) / block_rows;
    parts.of[i] = {
        model.fragments, model.tiles, model.dims, model.state_begins, model.n_dims, model.n_steps, jobs[i].n_tiles, rows,
        n_part_blocks,   0,           0,          model.four_tiles};
    work.push_back(uint64_t{jobs[i].n_tiles} * n_part_blocks);
    n_row_blocks = std::max(n_row_blocks, n_part_blocks);
    if (model.n_steps != n_steps) n_steps = 0;
    n_bytes += size_t{jobs[i].n_tiles} * diagonal_tile_bytes(model.n_steps, halved);
  }
  const std::vector<uint32_t> shares = share_blocks(work, n_multiprocessors * (kWarpgroups / n_groups));
  uint32_t n_blocks = 0;
  for (uint32_t i = 0; i < n_jobs; ++i) {
    parts.of[i].first_block = n_blocks, parts.of[i].n_blocks = shares[i];
    n_blocks += shares[i];
  }
  parts.pass = n_bytes > kLastingBytes;
  with_kernel(n_steps, halved, n_groups, [&](auto steps, auto is_halved, auto groups) {
    diagonal_wgmma_kernel<steps(), is_halved(), groups()>
        <<<dim3(n_blocks, n_row_blocks), groups() * kGroupThreads, shared_bytes<steps(), is_halved(), groups()>(), stream>>>(
            parts);
  });
}

cudaError_t prepare_diagonal_wgmma() {
  cudaError_t status = cudaSuccess;
  const auto allow = [&](auto steps, auto halved, auto groups) {
    const auto kernel = diagonal_wgmma_kernel<steps(), halved(), groups()>;
    const auto set = [&](cudaFuncAttribute attribute, int value) {
      if (status == cudaSuccess) status = cudaFuncSetAttribute(kernel, attribute, value);
    };
    set(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes<steps(), halved(), groups()>()));
    set(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
  };
  for (const uint32_t n_steps : {0, 4, 9, 10}) {
    for (const bool halved : {false, true}) {
      for (const uint32_t n_groups : {1u, 2u, kWarpgroups}) with_kernel(n_steps, halved, n_groups, allow);
    }
  }
  return status;
}

}  // namespace asr::gpu
