// SPDX-License-Identifier: Apache-2.0
// Warps and blocks of the search kernels append to lists and add up here. Functions named warp_* are called by whole warps,
// block_* by whole blocks.
#pragma once

#include <cstdint>

namespace asr::cuda {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;
constexpr uint32_t kMaxWarps = 32;  // of a block

__device__ inline uint32_t lane_number() { return threadIdx.x % kWarp; }
__device__ inline uint32_t warp_number() { return threadIdx.x / kWarp; }

#if __CUDA_ARCH__ >= 800
__device__ inline uint32_t warp_or(uint32_t bits) { return __reduce_or_sync(kAllLanes, bits); }
__device__ inline uint32_t warp_min(uint32_t value) { return __reduce_min_sync(kAllLanes, value); }
__device__ inline uint32_t warp_sum(uint32_t value) { return __reduce_add_sync(kAllLanes, value); }
#else
__device__ inline uint32_t warp_or(uint32_t bits) {
  for (uint32_t d = kWarp / 2; d > 0; d /= 2) bits |= __shfl_xor_sync(kAllLanes, bits, d);
  return bits;
}
__device__ inline uint32_t warp_min(uint32_t value) {
  for (uint32_t d = kWarp / 2; d > 0; d /= 2) value = min(value, __shfl_xor_sync(kAllLanes, value, d));
  return value;
}
__device__ inline uint32_t warp_sum(uint32_t value) {
  for (uint32_t d = kWarp / 2; d > 0; d /= 2) value += __shfl_xor_sync(kAllLanes, value, d);
  return value;
}
#endif
// The sum over this lane and those before it.
__device__ inline uint32_t warp_scan(uint32_t value) {
#pragma unroll
  for (uint32_t d = 1; d < kWarp; d *= 2) {
    const uint32_t before = __shfl_up_sync(kAllLanes, value, d);
    if (lane_number() >= d) value += before;
  }
  return value;
}

// Places in a list for the lanes that want one; one atomic operation a warp.
__device__ inline uint32_t warp_append(uint32_t *size, bool wanted) {
  const uint32_t mask = __ballot_sync(kAllLanes, wanted);
  uint32_t first = 0;
  if (lane_number() == 0 && mask != 0) first = atomicAdd(size, __popc(mask));
  return __shfl_sync(kAllLanes, first, 0) + __popc(mask & ((1u << lane_number()) - 1));
}

// The sum over the threads before this one. sums: [kMaxWarps] in shared memory.
__device__ inline uint32_t block_scan(uint32_t value, uint32_t *sums, uint32_t *total) {
  const uint32_t inclusive = warp_scan(value), n_warps = blockDim.x / kWarp;
  __syncthreads();
  if (lane_number() == kWarp - 1) sums[warp_number()] = inclusive;
  __syncthreads();
  const uint32_t of_warp = lane_number() < n_warps ? sums[lane_number()] : 0, scanned = warp_scan(of_warp);
  *total = __shfl_sync(kAllLanes, scanned, kWarp - 1);
  return __shfl_sync(kAllLanes, scanned - of_warp, warp_number()) + inclusive - value;
}

}  // namespace asr::cuda
