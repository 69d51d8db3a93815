// SPDX-License-Identifier: Apache-2.0
// Sizes of the kernels' launches on AMD GPUs (docs/opencl.md). Used by device.cc.
#pragma once

#include "plugins/common/ocl/variant.h"

namespace asr::ocl_amd {

// A group of 64 lanes is a wave of GCN and CDNA, or two of RDNA: 16 states, four lanes each, and 8 rows.
inline ocl::GmmTuning gmm_tuning(bool full) { return {64, 4, 4, full ? 2u : 1u, {8}, 1, 64, false, 64, 4}; }

// Complex numbers of a group's transforms: 16 an item, 8 bytes of local memory each.
constexpr uint32_t kMfccPoints = 4096;

}  // namespace asr::ocl_amd
