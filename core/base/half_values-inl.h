// SPDX-License-Identifier: Apache-2.0
// The values of 16-bit floats, exactly. The host (core/stream/given_rows.cc) and devices (plugins/gpu/given/given-inl.h)
// include this, as C++ or OpenCL C, and define
//   DEVICE: the qualifiers of a function; as_float(uint32_t): the float of these bits.
#ifndef SENONE_HALF_VALUES_INL_H
#define SENONE_HALF_VALUES_INL_H

#ifdef __cplusplus
namespace asr {
#endif

DEVICE float float_of_half(uint16_t half_bits) {
  const uint32_t sign = (uint32_t)(half_bits & 0x8000u) << 16, exponent = half_bits >> 10 & 31u, fraction = half_bits & 1023u;
  if (exponent == 31u) return as_float(sign | 0x7f800000u | fraction << 13);
  if (exponent > 0) return as_float(sign | (exponent + 112u) << 23 | fraction << 13);
  const float magnitude = (float)fraction * 5.9604644775390625e-8f;  // 2^-24
  return sign != 0 ? -magnitude : magnitude;
}

DEVICE float float_of_bfloat(uint16_t bits) { return as_float((uint32_t)bits << 16); }

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_HALF_VALUES_INL_H
