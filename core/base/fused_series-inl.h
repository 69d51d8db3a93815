// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm of fusion (G6 of docs/equations.md) in float. The host (fused_rows.cc) and devices
// (plugins/common/kernels/fuse.h) find the same bits, because each operation is one rounded operation of IEEE 754. An
// including file is compiled without contraction, as C++ or OpenCL C, and defines
//   DEVICE: the qualifiers of a function; as_uint(float) and as_float(uint32_t): the same bits.
#ifndef SENONE_FUSED_SERIES_INL_H
#define SENONE_FUSED_SERIES_INL_H

#ifdef __cplusplus
namespace asr {
#endif

// e^x for x <= 0, at least e^-87; relative error 2e-7, and exactly 1 for 0: n ln 2 + r, then the series to r^7 / 7!.
DEVICE float fused_exp(float x) {
  const float round = 12582912.0f;  // 1.5 * 2^23: adding it leaves an integer in the low bits
  x = x < -87.0f ? -87.0f : x;
  const float shifted = x * 1.44269504f + round, n = shifted - round;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const uint32_t exponent = as_uint(shifted) - as_uint(round);
  return p * as_float((exponent + 127) << 23);
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
