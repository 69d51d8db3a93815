// SPDX-License-Identifier: Apache-2.0
// OpenCL built-in functions for tests/ocl/nvidia_static.sh: clang has no library of them for NVIDIA's GPUs.
#define get_local_id(dimension) ((size_t)__nvvm_read_ptx_sreg_tid_x())
#define get_group_id(dimension) ((size_t)__nvvm_read_ptx_sreg_ctaid_x())
#define get_num_groups(dimension) ((size_t)__nvvm_read_ptx_sreg_nctaid_x())
#define barrier(flags) __asm__ volatile("bar.sync 0;" ::: "memory")
#define min(a, b) ((a) < (b) ? (a) : (b))
#define fmax(a, b) __builtin_fmaxf(a, b)
#define as_uint(value) __builtin_astype((value), uint)
#define as_float(value) __builtin_astype((value), float)

static inline float binary_logarithm(float value) {
  float result;
  __asm__("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
static inline float square_root(float value) {
  float result;
  __asm__("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
#define native_log(value) (binary_logarithm(value) * 0.69314718f)
#define native_sqrt(value) square_root(value)

// Additional functions of the tensor core kernels.
static inline float power_of_2(float value) {
  float result;
  __asm__("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
#define native_log2(value) binary_logarithm(value)
static inline float __attribute__((overloadable)) native_exp2(float value) { return power_of_2(value); }
static inline float2 __attribute__((overloadable)) native_exp2(float2 v) { return (float2)(power_of_2(v.x), power_of_2(v.y)); }
static inline float4 __attribute__((overloadable)) native_exp2(float4 v) {
  return (float4)(native_exp2(v.xy), native_exp2(v.zw));
}
static inline float2 fused(float2 a, float b, float2 c) {
  return (float2)(__builtin_fmaf(a.x, b, c.x), __builtin_fmaf(a.y, b, c.y));
}
#define fma(a, b, c) fused(a, b, c)
#define fabs(value) __builtin_fabsf(value)
#define ilogb(value) ((int)(__builtin_astype((float)(value), uint) >> 23 & 255) - 127)
#define ldexp(value, exponent) ((value)*__builtin_astype((uint)((exponent) + 127) << 23, float))
