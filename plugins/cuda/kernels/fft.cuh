// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of 2, 4, 8 and 16 complex numbers in registers, by decimation in frequency. Included by kernels/mfcc.cu.
#pragma once

#include <cuda_runtime.h>

namespace asr::cuda {

__device__ __forceinline__ float2 operator+(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ __forceinline__ float2 operator-(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
__device__ __forceinline__ float2 operator*(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// exp(-2 pi i k / 16)
__device__ __forceinline__ float2 root_of_16(int k) {
  constexpr float c[5] = {1.0f, 0.92387953f, 0.70710678f, 0.38268343f, 0.0f};
  const int quarter = k / 4 % 4, rest = k % 4;
  const float2 root = {c[rest], -c[4 - rest]};
  switch (quarter) {
    case 0:
      return root;
    case 1:
      return {root.y, -root.x};
    case 2:
      return {-root.x, -root.y};
    default:
      return {-root.y, root.x};
  }
}

__device__ __forceinline__ void transform_4(float2 &a, float2 &b, float2 &c, float2 &d) {
  const float2 sum_ac = a + c, difference_ac = a - c, sum_bd = b + d, difference_bd = b - d;
  const float2 turned = {difference_bd.y, -difference_bd.x};  // times -i
  a = sum_ac + sum_bd;
  b = difference_ac + turned;
  c = sum_ac - sum_bd;
  d = difference_ac - turned;
}

// The same where d is zero before.
__device__ __forceinline__ void transform_3(float2 &a, float2 &b, float2 &c, float2 &d) {
  const float2 sum_ac = a + c, difference_ac = a - c, turned = {b.y, -b.x};
  a = sum_ac + b;
  c = sum_ac - b;
  b = difference_ac + turned;
  d = difference_ac - turned;
}

__device__ __forceinline__ float2 times_root_of_16(float2 v, int k) {
  return k == 0 ? v : k == 4 ? float2{v.y, -v.x} : v * root_of_16(k);
}

// x[0 ... kN - 1] becomes its transform, in order; those from kInputs on, at most a quarter, are taken as zero.
template <int kN, int kInputs = kN>
__device__ __forceinline__ void transform(float2 (&x)[kN]) {
  if constexpr (kN == 2) {
    const float2 difference = x[0] - x[1];
    x[0] = x[0] + x[1];
    x[1] = difference;
  } else if constexpr (kN == 4) {
    transform_4(x[0], x[1], x[2], x[3]);
  } else {
    constexpr int kColumns = kN / 4;
    float2 y[kN];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      float2 column[4] = {x[c], x[c + kColumns], x[c + 2 * kColumns], x[c + 3 * kColumns]};
      if (c + 3 * kColumns < kInputs)
        transform_4(column[0], column[1], column[2], column[3]);
      else
        transform_3(column[0], column[1], column[2], column[3]);
#pragma unroll
      for (int s = 0; s < 4; ++s) y[s * kColumns + c] = times_root_of_16(column[s], c * s * 16 / kN);
    }
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      float2 row[kColumns];
#pragma unroll
      for (int c = 0; c < kColumns; ++c) row[c] = y[s * kColumns + c];
      transform(row);
#pragma unroll
      for (int t = 0; t < kColumns; ++t) x[s + 4 * t] = row[t];
    }
  }
}

}  // namespace asr::cuda
