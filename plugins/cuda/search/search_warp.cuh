// SPDX-License-Identifier: Apache-2.0
// The search's warps: 32 threads that exchange registers. They are the functions that
// plugins/gpu/search/search_stretch-inl.h requires. Functions named warp_* are called by whole warps.
#pragma once

#include "plugins/gpu/search/search_types.h"

namespace asr {

constexpr uint32_t kWarp = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

__device__ inline uint32_t lane_number() { return threadIdx.x % kWarp; }
__device__ inline uint32_t warp_number() { return threadIdx.x / kWarp; }
__device__ inline constexpr uint32_t warp_size() { return kWarp; }

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
// Returns the sum over this lane and all lower ones.
__device__ inline uint32_t warp_scan(uint32_t value) {
#pragma unroll
  for (uint32_t d = 1; d < kWarp; d *= 2) {
    const uint32_t before = __shfl_up_sync(kAllLanes, value, d);
    if (lane_number() >= d) value += before;
  }
  return value;
}

// Takes numbers that rise from lane to lane. Returns how many are at most the number of this lane; *n_begun is how many are
// less than kWarp.
__device__ inline uint32_t warp_begun(uint32_t first, uint32_t *n_begun) {
  const uint32_t mask = warp_or(first < kWarp ? 1u << first : 0u);
  *n_begun = __popc(mask);
  return __popc(mask & ((2u << lane_number()) - 1));
}

// Reserves indices in a list for lanes with `wanted`, by one atomic operation a warp.
__device__ inline uint32_t warp_append(uint32_t *size, bool wanted) {
  if (__isShared(size)) {  // the compiler makes one operation of the lanes' ones
    uint32_t index = 0;
    if (wanted) index = atomicAdd(size, 1u);
    __syncwarp();
    return index;
  }
  const uint32_t mask = __ballot_sync(kAllLanes, wanted);
  uint32_t first = 0;
  if (lane_number() == 0 && mask != 0) first = atomicAdd(size, __popc(mask));
  return __shfl_sync(kAllLanes, first, 0) + __popc(mask & ((1u << lane_number()) - 1));
}

// Adds the values of a warp to a sum.
__device__ inline void warp_add(uint32_t *sum, uint32_t value) {
  const uint32_t added = warp_sum(value);
  if (lane_number() == 0 && added > 0) atomicAdd(sum, added);
}

// Returns the last item that begins at or before an arc: the lanes of a warp look at 32 items at a time.
__device__ inline uint32_t warp_item_of(const ExpandItem *items, uint32_t n_items, uint32_t arc) {
  uint32_t low = 0, n = n_items;  // it is one of n from `low` on
  while (n > 1) {
    const uint32_t step = (n + kWarp - 1) / kWarp, index = lane_number() * step;
    const bool at_or_before = index < n && items[low + index].offset <= arc;
    const uint32_t last = __popc(__ballot_sync(kAllLanes, at_or_before)) - 1;
    low += last * step;
    n = min(step, n - last * step);
  }
  return low;
}

}  // namespace asr
