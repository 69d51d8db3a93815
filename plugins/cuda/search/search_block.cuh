// SPDX-License-Identifier: Apache-2.0
// Prefix sums over the blocks of the search kernels. Functions named block_* are called by whole blocks.
#pragma once

#include "plugins/cuda/search/search_warp.cuh"

namespace asr {

constexpr uint32_t kMaxWarps = 32;  // limit of a block

// Returns the sum over the threads before this one. sums: [kMaxWarps] in shared memory.
__device__ inline uint32_t block_scan(uint32_t value, uint32_t *sums, uint32_t *total) {
  const uint32_t inclusive = warp_scan(value), n_warps = blockDim.x / kWarp;
  __syncthreads();
  if (lane_number() == kWarp - 1) sums[warp_number()] = inclusive;
  __syncthreads();
  const uint32_t of_warp = lane_number() < n_warps ? sums[lane_number()] : 0, scanned = warp_scan(of_warp);
  *total = __shfl_sync(kAllLanes, scanned, kWarp - 1);
  return __shfl_sync(kAllLanes, scanned - of_warp, warp_number()) + inclusive - value;
}

}  // namespace asr
