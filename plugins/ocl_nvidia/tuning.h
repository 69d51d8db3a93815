// SPDX-License-Identifier: Apache-2.0
// Sizes of the kernels' launches on NVIDIA GPUs, as measured (docs/opencl.md). Used by device.cc.
#pragma once

#include "plugins/common/ocl/variant.h"

namespace asr::ocl_nvidia {

// Four warps of a group share 64 rows in local memory; each has a state.
constexpr ocl::GmmTuning kGmmTuning = {1, 1, 64, 4, 128, true, 32, 8};

// Complex numbers of a group's transforms: 16 an item, 8 bytes of local memory each.
constexpr uint32_t kMfccPoints = 4096;

}  // namespace asr::ocl_nvidia
