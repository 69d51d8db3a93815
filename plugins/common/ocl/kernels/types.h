// SPDX-License-Identifier: Apache-2.0
// Names of numbers for the structs that host and kernels share.
#ifdef __OPENCL_C_VERSION__
typedef int int32_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#else
#include <cstdint>
#endif
