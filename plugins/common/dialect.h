// SPDX-License-Identifier: Apache-2.0
// The dialect of the kernels that CUDA and OpenCL share: plugins/gpu/*/*-inl.h, and those files of this folder that the CPU
// uses, too. nvcc compiles it as CUDA C++, and the OpenCL back ends embed it as OpenCL C 1.2. The host's compiler reads the
// parts that need neither threads nor built-in functions. Bodies are written in C, name address spaces by the macros below,
// and take structs by pointer. Built-in functions have OpenCL's names.
#ifndef SENONE_KERNELS_DIALECT_H
#define SENONE_KERNELS_DIALECT_H

#include "plugins/common/types.h"

#ifdef __OPENCL_C_VERSION__

#define DEVICE static inline  // a function that kernels call
#define RARE static inline    // one whose registers must not count for others
#define GLOBAL __global
#define LOCAL __local           // CUDA's shared memory
#define CONSTANT __constant     // memory that kernels only read
#define FIXED __constant const  // a number known when the kernel is compiled

#define FOR_TYPE(name)  // the type is defined once
#define FOR_TYPES(name, other)

// Hooks are functions that a shared body calls and each back end defines for types of its own. A header declares them between
// these macros. In OpenCL C a declaration is a prototype, which a definition must match. In CUDA, where the types are
// parameters of templates, CHECK_HOOKS() fails where a function is missing or returns another type.
#define HOOKS_OF(checks, name)
#define HOOKS_OF_TWO(checks, name, other)
#define HOOK(result, function, parameters) result function parameters;
#define END_HOOKS
#define CHECK_HOOKS(checks, name)
#define CHECK_HOOKS_OF_TWO(checks, name, other)

#define make_float2(x, y) ((float2)(x, y))
// By the hardware's approximations.
#define fast_exp2(x) native_exp2(x)
#define fast_log2(x) native_log2(x)
#define fast_log(x) native_log(x)
#define fast_sqrt(x) native_sqrt(x)

DEVICE uint32_t thread_number(void) { return get_local_id(0); }  // in its block, OpenCL's work-group
DEVICE uint32_t block_size(void) { return get_local_size(0); }
#if defined(GROUP_SIZE) && GROUP_SIZE == 1  // a block of one thread has nothing to wait for
DEVICE void block_sync(void) {}
#else
DEVICE void block_sync(void) { barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }
#endif

#else

#define GLOBAL
#define LOCAL
#define CONSTANT const
#define FIXED constexpr
// NOLINTBEGIN(bugprone-macro-parentheses): names of types
#define FOR_TYPE(name) template <typename name>
#define FOR_TYPES(name, other) template <typename name, typename other>
#define HOOKS_OF(checks, name) \
  template <typename name>     \
  struct checks {
#define HOOKS_OF_TWO(checks, name, other)  \
  template <typename name, typename other> \
  struct checks {
#define HOOK(result, function, parameters)                                                                        \
  template <typename Result, typename... Args>                                                                    \
  static std::is_same<Result, decltype(function(std::declval<Args>()...))> check_##function(Result (*)(Args...)); \
  static_assert(decltype(check_##function(static_cast<result(*) parameters>(nullptr)))::value,                    \
                #function " returns another type");
#define END_HOOKS \
  }               \
  ;
#define CHECK_HOOKS(checks, name) static_assert(sizeof(checks<name>) > 0, "")
#define CHECK_HOOKS_OF_TWO(checks, name, other) static_assert(sizeof(checks<name, other>) > 0, "")
// NOLINTEND(bugprone-macro-parentheses)

#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#define RARE __device__ __noinline__

#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>
#include <type_traits>
#include <utility>
namespace asr {

DEVICE uint32_t thread_number() { return threadIdx.x; }
DEVICE uint32_t block_size() { return blockDim.x; }
DEVICE void block_sync() { __syncthreads(); }

DEVICE uint32_t as_uint(float x) { return __float_as_uint(x); }
DEVICE float as_float(uint32_t x) { return __uint_as_float(x); }
DEVICE uint32_t popcount(uint32_t x) { return __popc(x); }

DEVICE uint32_t atomic_add(uint32_t *at, uint32_t value) { return atomicAdd(at, value); }
DEVICE uint32_t atomic_or(uint32_t *at, uint32_t bits) { return atomicOr(at, bits); }
DEVICE uint32_t atomic_min(uint32_t *at, uint32_t value) { return atomicMin(at, value); }
DEVICE uint32_t atomic_max(uint32_t *at, uint32_t value) { return atomicMax(at, value); }

// By the hardware's approximations.
DEVICE float fast_exp2(float x) {  // within 2^-22 of its value; 0 for -inf
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
DEVICE float fast_log2(float x) {
  float result;
  asm("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
DEVICE float fast_log(float x) { return __logf(x); }
DEVICE float fast_sqrt(float x) {
  float result;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

DEVICE float2 operator+(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
DEVICE float2 operator-(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }

}  // namespace asr
#else
#define DEVICE inline
#endif

#endif
#endif  // SENONE_KERNELS_DIALECT_H
