// SPDX-License-Identifier: Apache-2.0
// Sizes of the kernels' launches on NVIDIA GPUs, as measured (docs/opencl.md). Used by entry.cc.
#pragma once

#include "plugins/common/ocl/variant.h"

namespace asr::ocl_nvidia {

// Warps of a group share its rows in local memory; each has a state.
inline std::vector<ocl::GmmTuning> gmm_tunings(const ocl::DeviceFacts &, bool full) {
  const uint32_t factor_rows = full ? 2 : 1;
  const std::vector<std::vector<uint32_t>> tiles = {{32, 64, 128}, {32, 64}, {64}};
  std::vector<ocl::GmmTuning> tunings;
  for (const std::vector<uint32_t> &rows : tiles) {
    for (const uint32_t warps : {8, 4, 2}) {
      tunings.push_back({1, 1, 1, factor_rows, rows, warps, 32 * warps, true, 32, 8});
    }
  }
  return tunings;
}

// Complex numbers of a group's transforms: 16 an item, 8 bytes of local memory each.
constexpr uint32_t kMfccPoints = 4096;

}  // namespace asr::ocl_nvidia
