// SPDX-License-Identifier: Apache-2.0
// Names of integers for the structs that host and kernels share.
#ifndef SENONE_KERNELS_TYPES_H
#define SENONE_KERNELS_TYPES_H

#define KERNEL_ALIGNED(bytes) __attribute__((aligned(bytes)))  // so that one load brings all of it

#ifdef __OPENCL_C_VERSION__
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#else
#include <cstdint>
#endif

#endif  // SENONE_KERNELS_TYPES_H
