// SPDX-License-Identifier: Apache-2.0
// Sizes of the kernels' launches on AMD GPUs (docs/opencl.md). Used by entry.cc.
#pragma once

#include "plugins/ocl/variant.h"

namespace asr::ocl_amd {

// Lists the candidates, the default first. A group of 64 lanes is a wave of GCN and CDNA, or two of RDNA. It has 8 rows of 64
// states, or of fewer states with more lanes each.
inline std::vector<gpu::GmmTuning> gmm_tunings(const gpu::DeviceFacts &, bool full) {
  std::vector<gpu::GmmTuning> tunings;
  for (const uint32_t parts : {4, 1, 2, 8}) tunings.push_back({64, parts, 4, full ? 2u : 1u, {8}, 1, 64, false, 64, 4});
  return tunings;
}

// Complex numbers in the transforms of a work-group: 16 an item, 8 bytes of local memory each.
constexpr uint32_t kMfccPoints = 4096;

}  // namespace asr::ocl_amd
