// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks, which GPUs of capability 9.0 have: a number in the cluster, its barrier, and the shared memory of the
// others.
#pragma once

#include <cstdint>

namespace asr::gpu {

#if __CUDA_ARCH__ >= 900
constexpr bool kHasClusters = true;

__device__ inline uint32_t cluster_rank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline uint32_t cluster_size() {
  uint32_t size;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
// Waits for all blocks. All threads then see what any thread wrote before.
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}
template <typename T>
__device__ inline T *of_cluster_block(T *own, uint32_t rank) {
  uint64_t address;
  asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(own), "r"(rank));
  return reinterpret_cast<T *>(address);
}
#else
constexpr bool kHasClusters = false;

__device__ inline uint32_t cluster_rank() { return 0; }
__device__ inline uint32_t cluster_size() { return 1; }
__device__ inline void cluster_sync() { __syncthreads(); }
template <typename T>
__device__ inline T *of_cluster_block(T *own, uint32_t) {
  return own;
}
#endif

}  // namespace asr::gpu
