// SPDX-License-Identifier: Apache-2.0
// Tensor-core products of split fp16 numbers and asynchronous copies to shared memory, for GPUs of capability 8.0 and
// more. On older ones the functions do nothing, and no kernel that uses them is launched.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "plugins/cuda/scores/gmm_launch.h"

namespace asr::gpu {

// d += a b, a 16 x 16 by rows, b 16 x 8 by columns, as mma.m16n8k16 spreads them over a warp.
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
// a 16 x 8, b 8 x 8.
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[2], uint32_t b) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

// Copies 16 bytes to shared memory; they have arrived after a wait for their committed group.
__device__ __forceinline__ void copy_16(void *shared, const void *global) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
#endif
}
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits until at most the last kPending groups of this thread are under way.
template <int kPending>
__device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}
// Synchronises the threads of n_warps warps (a power of two, side by side); other warps have barriers of their own.
__device__ __forceinline__ void synchronise(uint32_t n_warps, uint32_t warp) {
  if (n_warps == 1) {
    __syncwarp();
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + warp / n_warps), "r"(32 * n_warps) : "memory");
  }
}

// Splits two numbers into two pairs of halves, whose sum is right to 2^-22 of the numbers.
__device__ __forceinline__ void split(float2 v, uint32_t *hi, uint32_t *lo) {
  const __half2 high = __floats2half2_rn(v.x, v.y);
  const __half2 low = __floats2half2_rn(v.x - __low2float(high), v.y - __high2float(high));
  *hi = *reinterpret_cast<const uint32_t *>(&high);
  *lo = *reinterpret_cast<const uint32_t *>(&low);
}

// Returns a power of two s, such that no |x| s and no x^2 s of a row with this largest |x| leaves the range of fp16.
__device__ __forceinline__ float row_scale(float largest) {
  if (!(largest > 128)) return 1;
  const int exponent = min(ilogbf(largest) + 1, 60);
  return ldexpf(1, 14 - 2 * exponent);
}

}  // namespace asr::gpu
