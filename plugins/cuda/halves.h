// SPDX-License-Identifier: Apache-2.0
// Numbers as sums of two fp16 halves, for the operands of tensor cores that are packed on the host.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

namespace asr::cuda {

// hi + lo of two numbers, in the order of their index in a register.
struct HalfPairs {
  uint32_t hi, lo;
};

inline uint16_t half_bits(float value) { return __half_raw(__float2half_rn(value)).x; }

inline float half_value(uint16_t bits) {
  __half_raw raw;
  raw.x = bits;
  return __half2float(__half(raw));
}

inline HalfPairs split_halves(double first, double second) {
  const uint16_t hi[2] = {half_bits(float(first)), half_bits(float(second))};
  const uint16_t lo[2] = {half_bits(float(first - half_value(hi[0]))), half_bits(float(second - half_value(hi[1])))};
  return {hi[0] | uint32_t(hi[1]) << 16, lo[0] | uint32_t(lo[1]) << 16};
}

}  // namespace asr::cuda
