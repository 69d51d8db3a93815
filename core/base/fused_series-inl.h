// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm of fusion (G6 of docs/equations.md) in float. The host (fused_rows.cc) and devices
// (plugins/gpu/fusion/fuse-inl.h) find the same bits, because each operation is one rounded operation of IEEE 754. An
// including file is compiled without contraction, as C++ or OpenCL C, and defines
//   DEVICE: the qualifiers of a function; as_uint(float) and as_float(uint32_t): the same bits.
#ifndef SENONE_FUSED_SERIES_INL_H
#define SENONE_FUSED_SERIES_INL_H

#ifdef __cplusplus
namespace asr {
#endif

// e^x for x <= 0, and e^-87 below -87; absolute error 2e-7, and exactly 1 for 0: 2^n 2^f, 2^f by a polynomial that is within
// 1e-7 for |f| <= 1/2.
DEVICE float fused_exp(float x) {
  const float round = 12582912.0f;  // 1.5 * 2^23: adding it leaves an integer in the low bits
  x = x > -87.0f ? x : -87.0f;
  const float t = x * 1.44269504f, shifted = t + round, f = t - (shifted - round);
  float p = 1.32647288e-3f;
  p = p * f + 9.67151394e-3f;
  p = p * f + 5.55073375e-2f;
  p = p * f + 0.240222421f;
  p = p * f + 0.693146978f;
  p = p * f + 1.0f;
  return as_float(as_uint(p) + (as_uint(shifted) << 23));  // the low bits of `shifted` are n
}

// Returns ln x for normal x > 0, with an absolute error of 3e-7, and exactly 0 for 1. It takes x = 2^n m, m from
// sqrt(1/2) to sqrt(2), and the series of 2 artanh((m - 1) / (m + 1)).
DEVICE float fused_log(float x) {
  const uint32_t bits = as_uint(x);
  const int32_t n = (int32_t)(bits - 0x3f3504f3u) >> 23;
  const float m = as_float(bits - ((uint32_t)n << 23));
  const float z = (m - 1.0f) / (m + 1.0f), square = z * z;
  float p = 2.0f / 9;
  p = p * square + 2.0f / 7;
  p = p * square + 2.0f / 5;
  p = p * square + 2.0f / 3;
  p = p * square;
  const float exponent = (float)n;
  return exponent * 0.693359375f + ((p * z + 2.0f * z) + exponent * -2.12194440e-4f);
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_FUSED_SERIES_INL_H
