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

#include "plugins/cuda/kernels/diagonal_wgmma.cuh"
#include "plugins/cuda/kernels/gmm.h"

namespace asr::cuda {
namespace {

constexpr uint32_t kThreads = kWarpgroups * kGroupThreads;
constexpr size_t kLastingBytes = size_t{48} << 20;  // second-level cache

// One block a multiprocessor, whose warpgroups share rings as a part says. The kernel of few tiles has a ring each.
template <int kSteps, bool kHalved, uint32_t kTiles>
using CudaRing = Ring<kSteps, kHalved, kTiles,
                      BlockShape<kWarpgroups, kTiles == kFewProductTiles ? 1 : 0, kTiles != kFewProductTiles, 226 * 1024>>;

struct Parts {
  uint32_t n;
  bool pass;  // their tiles are more than the second-level cache keeps for the next launch
  Part of[kMostModels];
};

// kSteps is that of all parts, or 0 if parts differ; that kernel has no register left for a choice of policy.
template <int kSteps, bool kHalved, uint32_t kTiles>
__global__ void __launch_bounds__(kThreads, 1) diagonal_wgmma_kernel(const __grid_constant__ Parts parts) {
  extern __shared__ __align__(128) unsigned char memory[];
  uint32_t i = 0;
  while (i + 1 < parts.n && blockIdx.x >= parts.of[i + 1].first_block) ++i;
  const Part &part = parts.of[i];
  if (blockIdx.y >= part.n_row_blocks) return;
  if constexpr (kSteps > 0) {
    score_part<CudaRing<kSteps, kHalved, kTiles>>(part, parts.pass, memory);
  } else if (part.n_steps == 4) {
    score_part<CudaRing<4, kHalved, kTiles>>(part, false, memory);
  } else if (part.n_steps == 9) {
    score_part<CudaRing<9, kHalved, kTiles>>(part, false, memory);
  } else {
    score_part<CudaRing<10, kHalved, kTiles>>(part, false, memory);
  }
}

template <int kSteps, bool kHalved, uint32_t kTiles>
constexpr uint32_t shared_bytes() {
  if constexpr (kSteps > 0) {
    return CudaRing<kSteps, kHalved, kTiles>::kSharedBytes;
  } else {
    return std::max(
        {shared_bytes<4, kHalved, kTiles>(), shared_bytes<9, kHalved, kTiles>(), shared_bytes<10, kHalved, kTiles>()});
  }
}

template <bool kHalved>
uint32_t least_sharing(uint32_t n_steps) {
  if (n_steps == 4) return CudaRing<4, kHalved, kProductTiles>::kLeastSharing;
  return n_steps == 9 ? CudaRing<9, kHalved, kProductTiles>::kLeastSharing
                      : CudaRing<10, kHalved, kProductTiles>::kLeastSharing;
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
