// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of 2, 4, 8 and 16 complex numbers in registers, by decimation in frequency. Included by the MFCC kernels.
#ifndef SENONE_KERNELS_FFT_H
#define SENONE_KERNELS_FFT_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

// Returns the product of complex numbers.
DEVICE float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

DEVICE float2 times_minus_i(float2 v) { return make_float2(v.y, -v.x); }

// exp(-2 pi i k / 16)
DEVICE float2 root_of_16(int k) {
  const float c[5] = {1.0f, 0.92387953f, 0.70710678f, 0.38268343f, 0.0f};
  const int quarter = k / 4 % 4, rest = k % 4;
  const float2 root = make_float2(c[rest], -c[4 - rest]);
  switch (quarter) {
    case 0:
      return root;
    case 1:
      return make_float2(root.y, -root.x);
    case 2:
      return make_float2(-root.x, -root.y);
    default:
      return make_float2(-root.y, root.x);
  }
}

DEVICE float2 times_root_of_16(float2 v, int k) { return k == 0 ? v : k == 4 ? times_minus_i(v) : times(v, root_of_16(k)); }

DEVICE void transform_2(float2 *x) {
  const float2 difference = x[0] - x[1];
  x[0] = x[0] + x[1];
  x[1] = difference;
}

DEVICE void transform_4(float2 *a, float2 *b, float2 *c, float2 *d) {
  const float2 sum_ac = *a + *c, difference_ac = *a - *c, sum_bd = *b + *d, turned = times_minus_i(*b - *d);
  *a = sum_ac + sum_bd;
  *b = difference_ac + turned;
  *c = sum_ac - sum_bd;
  *d = difference_ac - turned;
}

// Makes the same transform for d = 0.
DEVICE void transform_3(float2 *a, float2 *b, float2 *c, float2 *d) {
  const float2 sum_ac = *a + *c, difference_ac = *a - *c, turned = times_minus_i(*b);
  *a = sum_ac + *b;
  *c = sum_ac - *b;
  *b = difference_ac + turned;
  *d = difference_ac - turned;
}

DEVICE void transform_8(float2 *x) {
  float2 y[8];
#pragma unroll
  for (int c = 0; c < 2; ++c) {
    transform_4(&x[c], &x[c + 2], &x[c + 4], &x[c + 6]);
#pragma unroll
    for (int s = 0; s < 4; ++s) y[2 * s + c] = times_root_of_16(x[c + 2 * s], 2 * c * s);
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    transform_2(&y[2 * s]);
    x[s] = y[2 * s];
    x[s + 4] = y[2 * s + 1];
  }
}

// Transforms x[0 ... 15], in order. Numbers from n_inputs on, at most a quarter, are taken as zero.
DEVICE void transform_first_of_16(float2 *x, int n_inputs) {
  float2 y[16];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    if (c + 12 < n_inputs) {
      transform_4(&x[c], &x[c + 4], &x[c + 8], &x[c + 12]);
    } else {
      transform_3(&x[c], &x[c + 4], &x[c + 8], &x[c + 12]);
    }
#pragma unroll
    for (int s = 0; s < 4; ++s) y[4 * s + c] = times_root_of_16(x[c + 4 * s], c * s);
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    transform_4(&y[4 * s], &y[4 * s + 1], &y[4 * s + 2], &y[4 * s + 3]);
#pragma unroll
    for (int t = 0; t < 4; ++t) x[s + 4 * t] = y[4 * s + t];
  }
}

DEVICE void transform_16(float2 *x) { transform_first_of_16(x, 16); }

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_FFT_H
