// SPDX-License-Identifier: Apache-2.0
// Splits numbers into sums of two fp16 halves, for operands of tensor cores that are packed on the host.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace asr {

// hi + lo of two numbers, in the order of their index in a register.
struct HalfPairs {
  uint32_t hi, lo;
};

// Returns the nearest half; ties go to the even one.
inline uint16_t half_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7fffu;
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and more
  if (magnitude < 0x38800000u) {                        // multiples of 2^-24 below 2^-14
    return sign | static_cast<uint16_t>(std::nearbyint(std::abs(value) * 0x1p24f));
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return sign | static_cast<uint16_t>((rounded - 0x38000000u) >> 13);
}

inline float half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 0    ? std::ldexp(static_cast<float>(fraction), -24)
                          : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                           : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
}

inline HalfPairs split_halves(double first, double second) {
  const uint16_t hi[2] = {half_bits(float(first)), half_bits(float(second))};
  const uint16_t lo[2] = {half_bits(float(first - half_value(hi[0]))), half_bits(float(second - half_value(hi[1])))};
  return {hi[0] | uint32_t(hi[1]) << 16, lo[0] | uint32_t(lo[1]) << 16};
}

}  // namespace asr
