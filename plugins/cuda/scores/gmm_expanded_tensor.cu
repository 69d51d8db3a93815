// SPDX-License-Identifier: Apache-2.0
// Mixtures of Gaussians with any quadratic form (G2, G3) on tensor cores: score = constant + sum_k w_k phi_k(x), phi
// the D features and their D (D + 1) / 2 products. It is a product of rows [16][K] and Gaussians [K][8], in fp16 halves
// of both, with sums in FP32. Double reference: reference/gmm.cc, tolerance 2e-3. The products x_i x_j are made
// once a window by expand_kernel.
//
// A warp owns 16 or 32 rows and a block of 64 Gaussians, whose sums stay in its registers while K passes. Products hi
// hi and the small ones are summed apart, so that the large sum is rounded a third as often. As in
// gmm_diagonal_tensor.cu, `warps` warps with different rows share a stretch of blocks. Everything comes through a ring
// in shared memory, 32 values of k a stage. Floors for 5000 x 16 Gaussians, D = 36 (K = 704): 225 MB of model, 52 us at
// 4.3 TB/s. 256 rows do 2112 multiply-adds a row and Gaussian, 86.5 G operations. They take 137 us at the 631 TFLOPS
// that mma.sync reaches on an H200: 493 TFLOPS by the papers' count.
#include <algorithm>

#include "plugins/cuda/runtime/tensor.cuh"
#include "plugins/cuda/scores/gmm_launch.h"
#include "plugins/cuda/scores/mixture.cuh"

namespace asr::gpu {
namespace {

constexpr uint32_t kWarp = 32, kThreads = kTensorWarps * kWarp, kStageSteps = 2;
__host__ __device__ constexpr uint32_t step_bytes_of(bool halved) {  // a block's Gaussians in a step
  return kBlockTiles * (halved ? 256 : 512);
}
constexpr uint32_t kRowStepBytes = 4 * kRowStepWords;  // 16 rows in a step

// Stages of a group's ring: as many as fit shared memory.
__host__ __device__ inline uint32_t ring_stages(uint32_t n_warps) { return n_warps == 1 ? 2 : 3; }

// ---- phi ---------------------------------------------------------------------------------------------------------------

// A block makes the fragments of 16 rows, blockIdx.y one of gridDim.y parts of the steps.
__global__ void __launch_bounds__(kThreads)
    expand_kernel(TensorModel model, const uint32_t *monomials, GmmRows rows, ExpandedRows expanded) {
  extern __shared__ float x[];  // [16][n_dims + 2]: features, 1, 0
  __shared__ float scales[16];
  const uint32_t lane = threadIdx.x % kWarp, quad = lane / 4, q = lane % 4, stride = model.n_dims + 2;
  for (uint32_t r = threadIdx.x / kWarp; r < 16; r += kTensorWarps) {
    const uint32_t row = min(blockIdx.x * 16 + r, rows.n_rows - 1);
    const float *const features = rows.features + size_t{row} * rows.n_features;
    float largest = 0;
    for (uint32_t d = lane; d < stride; d += kWarp) {
      float value = d == model.n_dims ? 1 : 0;
      if (d < model.n_dims) {
        const GmmDim dim = model.dims[d];
        value = (features[dim.dim] - dim.centre) * dim.scale;
      }
      largest = fmaxf(largest, fabsf(value));
      x[r * stride + d] = value;
    }
    for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    const float scale = row_scale(largest);
    if (lane == 0) scales[r] = scale;
    if (lane == 0 && blockIdx.y == 0) expanded.inverse_scale[blockIdx.x * 16 + r] = 1 / scale;
  }
  __syncthreads();
  const auto phi = [&](uint32_t r, uint32_t k) {
    const uint32_t pair = monomials[k];
    return x[r * stride + (pair & 0xffff)] * x[r * stride + (pair >> 16)] * scales[r];
  };
  for (uint32_t step = blockIdx.y * kTensorWarps + threadIdx.x / kWarp; step < model.n_steps;
       step += gridDim.y * kTensorWarps) {
    uint32_t hi[4], lo[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {  // rows quad, quad + 8; k, k + 8
      const uint32_t r = quad + i % 2 * 8, k = step * 16 + i / 2 * 8 + 2 * q;
      split({phi(r, k), phi(r, k + 1)}, &hi[i], &lo[i]);
    }
    uint4 *const out = expanded.fragments + (size_t{blockIdx.x} * model.n_steps + step) * (kRowStepBytes / 16);
    out[lane] = {hi[0], hi[1], hi[2], hi[3]};
    out[kWarp + lane] = {lo[0], lo[1], lo[2], lo[3]};
  }
}

// ---- scores ------------------------------------------------------------------------------------------------------------

template <int kTiles, bool kHalved>
struct BlockSums {
  float main[kBlockTiles][kTiles][4], small[kBlockTiles][kTiles][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int n = 0; n < int(kBlockTiles); ++n) {
#pragma unroll
      for (int t = 0; t < kTiles; ++t) {
#pragma unroll
        for (int i = 0; i < 4; ++i) main[n][t][i] = small[n][t][i] = 0;
      }
    }
  }
  // Adds the products of 16 values of k, a stage of the ring.
  __device__ __forceinline__ void add(const unsigned char *gaussians, const unsigned char *rows) {
    const uint32_t lane = threadIdx.x % kWarp;
    uint32_t hi[kTiles][4], lo[kTiles][4];
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      const uint4 *const fragments = reinterpret_cast<const uint4 *>(rows + t * kRowStepBytes) + lane;
      const uint4 h = fragments[0], l = fragments[kWarp];
      hi[t][0] = h.x, hi[t][1] = h.y, hi[t][2] = h.z, hi[t][3] = h.w;
      lo[t][0] = l.x, lo[t][1] = l.y, lo[t][2] = l.z, lo[t][3] = l.w;
    }
    // Four tiles at a time, so that no product waits for the one before it.
#pragma unroll
    for (int first = 0; first < int(kBlockTiles); first += 4) {
      uint2 b_hi[4], b_lo[4];
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const uint32_t at = (first + n) * kWarp + lane;
        if constexpr (kHalved) {
          b_hi[n] = reinterpret_cast<const uint2 *>(gaussians)[at];
        } else {
          const uint4 b = reinterpret_cast<const uint4 *>(gaussians)[at];
          b_hi[n] = {b.x, b.y}, b_lo[n] = {b.z, b.w};
        }
      }
      if constexpr (!kHalved) {
#pragma unroll
        for (int i = 0; i < 4 * kTiles; ++i)
          multiply(small[first + i / kTiles][i % kTiles], hi[i % kTiles], b_lo[i / kTiles].x, b_lo[i / kTiles].y);
      }
#pragma unroll
      for (int i = 0; i < 4 * kTiles; ++i)
        multiply(main[first + i / kTiles][i % kTiles], hi[i % kTiles], b_hi[i / kTiles].x, b_hi[i / kTiles].y);
#pragma unroll
      for (int i = 0; i < 4 * kTiles; ++i)
        multiply(small[first + i / kTiles][i % kTiles], lo[i % kTiles], b_hi[i / kTiles].x, b_hi[i / kTiles].y);
    }
  }
  // Returns the sums of a tile, added up in place.
  __device__ __forceinline__ const float (&total(int n))[kTiles][4] {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) main[n][t][i] += small[n][t][i];
    }
    return main[n];
  }
};

template <int kTiles, bool kHalved>
__global__ void __launch_bounds__(kThreads, 1) expanded_tensor_kernel(TensorModel model, const uint32_t *stretches,
                                                                      uint32_t n_warps, GmmRows rows, ExpandedRows expanded) {
  constexpr uint32_t kStepBytes = step_bytes_of(kHalved);
  extern __shared__ __align__(16) unsigned char memory[];
  const uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, group = warp / n_warps;
  const uint32_t number = group * gridDim.x + blockIdx.x, warp_of_group = warp % n_warps;
  const uint32_t first_row = (blockIdx.y * n_warps + warp_of_group) * 16 * kTiles;
  const uint32_t n_row_tiles = (rows.n_rows + 15) / 16, n_steps = model.n_steps;
  const uint32_t step_bytes = kStepBytes + n_warps * kTiles * kRowStepBytes, stage_bytes = kStageSteps * step_bytes;
  const uint32_t n_ring = ring_stages(n_warps), thread_of_group = warp_of_group * kWarp + lane;
  unsigned char *const ring = memory + group * n_ring * stage_bytes;
  const uint32_t begin = stretches[number], n_stages = (stretches[number + 1] - begin) * (n_steps / kStageSteps);

  // Step by step: 16 values of k of the group's Gaussians, and of each warp's own rows.
  const uint4 *gaussians_from = model.fragments + size_t{begin} * n_steps * (kStepBytes / 16) + thread_of_group;
  const uint4 *rows_from[kTiles];
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
    const uint32_t row_tile = min(first_row / 16 + t, n_row_tiles - 1);
    rows_from[t] = expanded.fragments + size_t{row_tile} * n_steps * (kRowStepBytes / 16) + lane;
  }
  uint32_t fetched = 0, fetched_step = 0, fetch_slot = 0;
  const auto fetch = [&] {
    if (fetched < n_stages) {
      uint4 *to = reinterpret_cast<uint4 *>(ring + fetch_slot * stage_bytes);
#pragma unroll
      for (uint32_t s = 0; s < kStageSteps; ++s, to += step_bytes / 16) {
        // Eight warps have more threads than a halved step has copies; otherwise all threads have as many.
        const bool copies = !kHalved || thread_of_group < kStepBytes / 16;
        for (uint32_t i = 0; copies && i < kStepBytes / 16; i += n_warps * kWarp) {
          copy_16(to + thread_of_group + i, gaussians_from + i);
        }
        gaussians_from += kStepBytes / 16;
        uint4 *const own = to + kStepBytes / 16 + warp_of_group * kTiles * (kRowStepBytes / 16) + lane;
#pragma unroll
        for (int t = 0; t < kTiles; ++t) {
          const uint4 *const row = rows_from[t] + (fetched_step + s) * (kRowStepBytes / 16);
          copy_16(own + t * (kRowStepBytes / 16), row);
          copy_16(own + t * (kRowStepBytes / 16) + kWarp, row + kWarp);
        }
      }
    }
    commit_copies();
    ++fetched;
    fetch_slot = fetch_slot + 1 < n_ring ? fetch_slot + 1 : 0;
    fetched_step = fetched_step + kStageSteps < n_steps ? fetched_step + kStageSteps : 0;
  };
  for (uint32_t stage = 0; stage + 1 < n_ring; ++stage) fetch();

  float inverse_scale[kTiles][2];
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint32_t row = min(first_row + 16 * t + 8 * half + lane / 4, rows.n_rows - 1);
      inverse_scale[t][half] = expanded.inverse_scale[row];
    }
  }
  RowLogSums<kTiles> mixture;
  mixture.clear();
  BlockSums<kTiles, kHalved> sums;
  sums.clear();
  uint32_t step = 0, slot = 0, block = begin;
  for (uint32_t stage = 0; stage < n_stages; ++stage) {
    n_ring == 2 ? wait_copies<0>() : wait_copies<1>();
    synchronise(n_warps, warp);  // the stage has arrived, and the one before it is free
    fetch();
    const unsigned char *const gaussians = ring + slot * stage_bytes;
#pragma unroll
    for (uint32_t s = 0; s < kStageSteps; ++s) {
      sums.add(gaussians + s * step_bytes, gaussians + s * step_bytes + kStepBytes + warp_of_group * kTiles * kRowStepBytes);
    }
    slot = slot + 1 < n_ring ? slot + 1 : 0;
    step += kStageSteps;
    if (step < n_steps) continue;
#pragma unroll
    for (int n = 0; n < int(kBlockTiles); ++n) {
      const TileInfo &tile = model.tiles[size_t{block} * kBlockTiles + n];
      const float2 constant = reinterpret_cast<const float2 *>(tile.constants)[lane % 4];
      mixture.add(sums.total(n), inverse_scale, constant);
      if (tile.states[0] >= 0) mixture.store(rows, first_row, static_cast<uint32_t>(tile.states[0]));
    }
    sums.clear();
    step = 0;
    ++block;
  }
}

size_t shared_bytes_of(const TensorShape &shape, bool halved) {
  const uint32_t n_groups = kTensorWarps / shape.warps;
  return size_t{n_groups} * ring_stages(shape.warps) * kStageSteps *
         (step_bytes_of(halved) + shape.warps * shape.tiles_of_16_rows * kRowStepBytes);
}

auto kernel_of(uint32_t tiles_of_16_rows, bool halved) {
  if (halved) return tiles_of_16_rows == 1 ? expanded_tensor_kernel<1, true> : expanded_tensor_kernel<2, true>;
  return tiles_of_16_rows == 1 ? expanded_tensor_kernel<1, false> : expanded_tensor_kernel<2, false>;
}

}  // namespace

void launch_expand(const TensorModel &model, const uint32_t *monomials, const GmmRows &rows, const ExpandedRows &expanded,
                   cudaStream_t stream) {
  const dim3 grid((rows.n_rows + 15) / 16, (model.n_steps + kTensorWarps - 1) / kTensorWarps);
  const size_t shared_bytes = size_t{16} * (model.n_dims + 2) * sizeof(float);
  expand_kernel<<<grid, kThreads, shared_bytes, stream>>>(model, monomials, rows, expanded);
}

void launch_expanded_tensor(const TensorModel &model, bool halved, const GmmRows &rows, const ExpandedRows &expanded,
                            cudaStream_t stream) {
  const TensorShape shape = tensor_shape(rows.n_rows);
  const uint32_t index = shape_index(shape), n_groups = kTensorWarps / shape.warps;
  const uint32_t block_rows = shape.warps * shape.tiles_of_16_rows * 16;
  const dim3 grid(model.n_stretches[index] / n_groups, (rows.n_rows + block_rows - 1) / block_rows);
  kernel_of(shape.tiles_of_16_rows, halved)<<<grid, kThreads, shared_bytes_of(shape, halved), stream>>>(
      model, model.stretches[index], shape.warps, rows, expanded);
}

size_t expanded_tensor_shared_bytes() { return std::max(shared_bytes_of({1, 2}, false), shared_bytes_of({2, 2}, false)); }

cudaError_t prepare_expanded_tensor() {
  const auto bytes = static_cast<int>(expanded_tensor_shared_bytes());
  cudaError_t status = cudaSuccess;
  for (const uint32_t tiles : {1u, 2u}) {
    for (const bool halved : {false, true}) {
      if (status != cudaSuccess) return status;
      status = cudaFuncSetAttribute(kernel_of(tiles, halved), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    }
  }
  return status;
}

}  // namespace asr::gpu
