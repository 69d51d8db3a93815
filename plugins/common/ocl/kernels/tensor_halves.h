// SPDX-License-Identifier: Apache-2.0
// Splits numbers into sums of two fp16 halves for the rows of tensor cores. Halves are in the lower 16 bits of a number.
//   -D TENSOR_PTX=1 where PTX has an instruction for them; HALVED=1: models without lo

// A lane's words of a model: {hi, hi, lo, lo} of 16 values of k, {hi, lo} of 8.
#if HALVED
#define LANE_WORDS 2u
typedef uint2 Fragment;
typedef uint HalfFragment;
#else
#define LANE_WORDS 4u
typedef uint4 Fragment;
typedef uint2 HalfFragment;
#endif

#if TENSOR_PTX
static inline uint half_bits(float v) {
  uint bits;
  asm("{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.u32.u16 %0, h; }" : "=r"(bits) : "f"(v));
  return bits;
}
static inline float half_value(uint bits) {
  float value;
  asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(value) : "r"(bits));
  return value;
}
#elif defined(cl_khr_fp16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
static inline uint half_bits(float v) { return as_ushort((half)v); }
static inline float half_value(uint bits) { return (float)as_half((ushort)bits); }
#else
static inline uint half_bits(float v) {
  ushort bits;
  vstore_half_rte(v, 0, (half *)&bits);
  return bits;
}
static inline float half_value(uint bits) {
  const ushort half_of = (ushort)bits;
  return vload_half(0, (const half *)&half_of);
}
#endif

// Splits two numbers into two pairs of halves, whose sum is right to 2^-22 of the numbers.
static inline void split(float2 v, uint *hi, uint *lo) {
  const uint first = half_bits(v.x), second = half_bits(v.y);
  *hi = first | second << 16;
  *lo = half_bits(v.x - half_value(first)) | half_bits(v.y - half_value(second)) << 16;
}

// Returns a power of two s, such that no |x| s and no x^2 s of a row with this largest |x| leaves the range of fp16.
static inline float row_scale(float largest) {
  if (!(largest > 128)) return 1;
  return ldexp(1.0f, 14 - 2 * min(ilogb(largest) + 1, 60));
}
