// SPDX-License-Identifier: Apache-2.0
// Sums, differences and products in float that are rounded each and never contracted: docs/search.md demands it, so that all
// back ends find the same costs. In OpenCL nothing is contracted after this file is included.
#ifndef SENONE_KERNELS_ROUNDED_H
#define SENONE_KERNELS_ROUNDED_H

#include "plugins/common/dialect.h"
#ifdef __OPENCL_C_VERSION__

#pragma OPENCL FP_CONTRACT OFF
DEVICE float add_rounded(float a, float b) { return a + b; }
DEVICE float subtract_rounded(float a, float b) { return a - b; }
DEVICE float multiply_rounded(float a, float b) { return a * b; }

#else

namespace asr {

DEVICE float add_rounded(float a, float b) { return __fadd_rn(a, b); }
DEVICE float subtract_rounded(float a, float b) { return __fsub_rn(a, b); }
DEVICE float multiply_rounded(float a, float b) { return __fmul_rn(a, b); }

}  // namespace asr

#endif
#endif  // SENONE_KERNELS_ROUNDED_H
