// SPDX-License-Identifier: Apache-2.0
// Loads of Gaussians in fours (gmm_types.h) for the FP32 kernels.
//   -D HALVED=0 or 1: floats or halves in memory
#include "plugins/common/kernels/dialect.h"
#include "plugins/common/kernels/log_zero.h"
#include "plugins/common/ocl/kernels/gmm_types.h"

// Four numbers of a model, and a four's constants. `next`: the distance to the next four numbers.
#if HALVED
typedef ushort4 Four;
#define CONSTANT_FOURS kHalvedConstants
static inline float4 load_four(__global const Four *p) { return vload_half4(0, (__global const half *)p); }
static inline float4 load_constants(__global const Four *p, uint next) {
  return fmax(load_four(p) + load_four(p + next), (float4)(kLogZero));
}
#else
typedef float4 Four;
#define CONSTANT_FOURS 1
static inline float4 load_four(__global const Four *p) { return *p; }
static inline float4 load_constants(__global const Four *p, uint next) { return *p; }
#endif
