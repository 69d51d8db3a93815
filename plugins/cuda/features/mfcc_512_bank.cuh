// SPDX-License-Identifier: Apache-2.0
// Splits and multiplies the operands of the filter bank of mfcc_512.cu on tensor cores. A number is the sum of two bf16
// numbers, which have the range of FP32. All terms of an energy are positive, so it is right to 2^-16 of itself.
#pragma once

#include <cstdint>

namespace asr::gpu::mfcc_512 {

// Splits two numbers into bf16 pairs; the first number is in the lower half of a pair.
__device__ __forceinline__ void split_brain(float first, float second, uint32_t *high, uint32_t *low) {
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(*high) : "f"(second), "f"(first));
  const float first_rest = first - __uint_as_float(*high << 16), second_rest = second - __uint_as_float(*high & 0xffff0000u);
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(*low) : "f"(second_rest), "f"(first_rest));
#endif
}

// d += a b, a 16 x 16 by rows, b 16 x 8 by columns, as mma.m16n8k16 spreads them over a warp: of a, rows lane / 4 and + 8 in
// turn.
__device__ __forceinline__ void multiply_brain(float (&d)[4], uint4 a, uint32_t b0, uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

}  // namespace asr::gpu::mfcc_512
