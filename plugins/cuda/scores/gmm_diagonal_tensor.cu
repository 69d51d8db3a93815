// SPDX-License-Identifier: Apache-2.0
// Mixtures of diagonal Gaussians (G1, G3) on tensor cores: score = constant + sum_d u_d x_d + v_d x_d^2. It is a
// product of rows [16][2 D] and Gaussians [2 D][8], in fp16 halves of both, with sums in FP32. Double reference:
// reference/gmm.cc, tolerance 2e-3.
//
// A warp owns 16 or 32 rows, whose fragments stay in its registers, and takes one tile of 8 Gaussians after the other.
// Their log-sum-exp stays in registers too, four lanes a row, and leaves them once a state. `warps` warps with
// different rows share a stretch of tiles and the ring in shared memory that they come through. For many rows all 8
// warps do so, and products bound the kernel. For up to 32 rows each warp has a stretch of its own, and reading the
// model bounds it. Floors for 5000 x 256 Gaussians, D = 36: 8 rows read 376 MB of model, 87 us at 4.3 TB/s. 256 rows do
// 216 multiply-adds a row and Gaussian, 0.14 P in all. They take 225 us at the 631 TFLOPS that mma.sync reaches on an
// H200. One exponential each takes 79 us. A halved model has no lo: half the bytes, two products for three, beyond the
// tolerance.
#include "plugins/cuda/runtime/tensor.cuh"
#include "plugins/cuda/scores/diagonal_rows.cuh"
#include "plugins/cuda/scores/gmm_launch.h"
#include "plugins/cuda/scores/mixture.cuh"

namespace asr::gpu {
namespace {

constexpr uint32_t kWarp = 32, kThreads = kTensorWarps * kWarp;
constexpr uint32_t kStages = 4;

// A tile of 8 Gaussians in shared memory, and the log sums of the warp's rows.
template <int kSteps, int kTiles, bool kHalved>
__device__ __forceinline__ void score_tile(const unsigned char *tile, const RowFragments<kSteps, kTiles> &rows,
                                           RowLogSums<kTiles> &mixture) {
  constexpr int kPairs = kSteps / 2;
  constexpr uint32_t kPairBytes = kHalved ? 256 : 512;
  const uint32_t lane = threadIdx.x % kWarp;
  uint2 b_hi[kPairs], b_lo[kPairs], last = {0, 0};  // of the last: hi, lo
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
    if constexpr (kHalved) {
      b_hi[p] = reinterpret_cast<const uint2 *>(tile)[p * kWarp + lane];
    } else {
      const uint4 b = reinterpret_cast<const uint4 *>(tile)[p * kWarp + lane];
      b_hi[p] = {b.x, b.y}, b_lo[p] = {b.z, b.w};
    }
  }
  if constexpr (kSteps % 2 != 0 && kHalved) last.x = reinterpret_cast<const uint32_t *>(tile + kPairs * kPairBytes)[lane];
  if constexpr (kSteps % 2 != 0 && !kHalved) last = reinterpret_cast<const uint2 *>(tile + kPairs * kPairBytes)[lane];

  float d[kTiles][4] = {};
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {  // the small products first: the large sum is then rounded less often
#pragma unroll
    for (int t = 0; t < kTiles && !kHalved; ++t) multiply(d[t], rows.hi[t][p], b_lo[p].x, b_lo[p].y);
#pragma unroll
    for (int t = 0; t < kTiles; ++t) multiply(d[t], rows.lo[t][p], b_hi[p].x, b_hi[p].y);
  }
  if constexpr (kSteps % 2 != 0) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {  // hi lo and lo hi of 8 values of k make one product of 16
      const uint32_t both[4] = {rows.last_hi[t][0], rows.last_hi[t][1], rows.last_lo[t][0], rows.last_lo[t][1]};
      multiply(d[t], both, last.y, last.x);  // halved: last.y is 0
    }
#pragma unroll
    for (int t = 0; t < kTiles; ++t) multiply(d[t], rows.last_hi[t], last.x);
  }
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) multiply(d[t], rows.hi[t][p], b_hi[p].x, b_hi[p].y);
  }
  const float2 constant = reinterpret_cast<const float2 *>(tile + kSteps * (kHalved ? 128 : 256))[lane % 4];
  mixture.add(d, rows.inverse_scale, constant);
}

template <int kSteps, int kTiles, bool kHalved>
__global__ void __launch_bounds__(kThreads, kDiagonalBlocks)
    diagonal_tensor_kernel(TensorModel model, const uint32_t *stretches, uint32_t n_warps, GmmRows rows) {
  constexpr uint32_t kTileBytes = diagonal_tile_bytes(kSteps, kHalved), kTileCopies = kTileBytes / 16;
  extern __shared__ __align__(16) unsigned char memory[];
  const uint32_t warp = threadIdx.x / kWarp, group = warp / n_warps, number = group * gridDim.x + blockIdx.x;
  const uint32_t first_row = (blockIdx.y * n_warps + warp % n_warps) * 16 * kTiles;
  const uint32_t chunk_bytes = n_warps * kTileBytes;  // a chunk of n_warps tiles is a stage of the ring
  unsigned char *const ring = memory + group * kStages * chunk_bytes;
  const uint32_t begin = stretches[number], end = stretches[number + 1], n_chunks = (end - begin + n_warps - 1) / n_warps;

  const auto fetch = [&](uint32_t chunk) {
    if (chunk < n_chunks) {
      const uint32_t first = begin + chunk * n_warps, n_copies = min(n_warps, end - first) * kTileCopies;
      const uint4 *const from = model.fragments + size_t{first} * kTileCopies;
      uint4 *const to = reinterpret_cast<uint4 *>(ring + chunk % kStages * chunk_bytes);
      for (uint32_t i = threadIdx.x % (n_warps * kWarp); i < n_copies; i += n_warps * kWarp) copy_16(to + i, from + i);
    }
    commit_copies();
  };
  for (uint32_t chunk = 0; chunk + 1 < kStages; ++chunk) fetch(chunk);

  RowFragments<kSteps, kTiles> fragments;
  fragments.load(model.dims, model.n_dims, rows, first_row);
  RowLogSums<kTiles> mixture;
  mixture.clear();
  for (uint32_t chunk = 0; chunk < n_chunks; ++chunk) {
    wait_copies<kStages - 2>();
    synchronise(n_warps, warp);  // the chunk has arrived, and the one before it is free
    fetch(chunk + kStages - 1);
    const uint32_t n_tiles = min(n_warps, end - begin - chunk * n_warps);
    for (uint32_t i = 0; i < n_tiles; ++i) {
      const unsigned char *const tile = ring + chunk % kStages * chunk_bytes + i * kTileBytes;
      score_tile<kSteps, kTiles, kHalved>(tile, fragments, mixture);
      const int32_t state = reinterpret_cast<const TileInfo *>(tile + kTileBytes - sizeof(TileInfo))->states[0];
      if (state >= 0) mixture.store(rows, first_row, static_cast<uint32_t>(state));
    }
  }
}

size_t shared_bytes_of(uint32_t n_steps, bool halved) {
  return size_t{kTensorWarps} * kStages * diagonal_tile_bytes(n_steps, halved);
}

template <int kSteps>
auto kernel_of(uint32_t tiles_of_16_rows, bool halved) {
  if (halved) return tiles_of_16_rows == 1 ? diagonal_tensor_kernel<kSteps, 1, true> : diagonal_tensor_kernel<kSteps, 2, true>;
  return tiles_of_16_rows == 1 ? diagonal_tensor_kernel<kSteps, 1, false> : diagonal_tensor_kernel<kSteps, 2, false>;
}

template <int kSteps>
void launch(const TensorModel &model, bool halved, const GmmRows &rows, cudaStream_t stream) {
  const TensorShape shape = tensor_shape(rows.n_rows);
  const uint32_t index = shape_index(shape), n_groups = kTensorWarps / shape.warps;
  const uint32_t block_rows = shape.warps * shape.tiles_of_16_rows * 16;
  const dim3 grid(model.n_stretches[index] / n_groups, (rows.n_rows + block_rows - 1) / block_rows);
  kernel_of<kSteps>(shape.tiles_of_16_rows, halved)<<<grid, kThreads, shared_bytes_of(kSteps, halved), stream>>>(
      model, model.stretches[index], shape.warps, rows);
}

template <int kSteps>
cudaError_t prepare() {
  const auto bytes = static_cast<int>(shared_bytes_of(kSteps, false));
  cudaError_t status = cudaSuccess;
  for (const uint32_t tiles : {1u, 2u}) {
    for (const bool halved : {false, true}) {
      if (status != cudaSuccess) return status;
      status = cudaFuncSetAttribute(kernel_of<kSteps>(tiles, halved), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    }
  }
  return status;
}

}  // namespace

void launch_diagonal_tensor(const TensorModel &model, bool halved, const GmmRows &rows, cudaStream_t stream) {
  if (model.n_steps == 4) return launch<4>(model, halved, rows, stream);
  if (model.n_steps == 9) return launch<9>(model, halved, rows, stream);
  launch<10>(model, halved, rows, stream);
}

size_t diagonal_tensor_shared_bytes() { return shared_bytes_of(diagonal_steps(kMaxDiagonalDims), false); }

cudaError_t prepare_diagonal_tensor() {
  for (const cudaError_t status : {prepare<4>(), prepare<9>(), prepare<10>()}) {
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace asr::gpu
