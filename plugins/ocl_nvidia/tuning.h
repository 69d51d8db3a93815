// SPDX-License-Identifier: Apache-2.0
// Sizes of the kernels' launches on NVIDIA GPUs, as measured (docs/opencl.md). Used by device.cc.
#pragma once

#include "plugins/common/ocl/variant.h"

namespace asr::ocl_nvidia {

// Four warps of a group share the rows in local memory; each has a state.
inline ocl::GmmTuning gmm_tuning(bool full) { return {1, 1, 1, full ? 2u : 1u, {32, 64, 128}, 4, 128, true, 32, 8}; }

// Complex numbers of a group's transforms: 16 an item, 8 bytes of local memory each.
constexpr uint32_t kMfccPoints = 4096;

}  // namespace asr::ocl_nvidia
