// SPDX-License-Identifier: Apache-2.0
// The kernels that all OpenCL back ends share, from plugins/ocl.
#pragma once

#include "plugins/ocl/runtime/program.h"

namespace asr::gpu {

extern const KernelSource kernel_gmm_rows, kernel_gmm_shared, kernel_gmm_diagonal_tensor, kernel_gmm_expanded_tensor,
    kernel_gmm_expanded_mfma, kernel_gmm_expand, kernel_search, kernel_mfcc, kernel_mfcc_512, kernel_mfcc_plp, kernel_signal,
    kernel_fuse, kernel_statistics, kernel_forced, kernel_given;

}  // namespace asr::gpu
