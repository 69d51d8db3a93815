// SPDX-License-Identifier: Apache-2.0
// What tests/ocl/nvidia_static.sh needs of OpenCL's built-in functions: clang has no library of them for NVIDIA's GPUs.
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
