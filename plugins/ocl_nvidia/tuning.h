// SPDX-License-Identifier: Apache-2.0
// Sizes of the kernels' launches on NVIDIA GPUs (docs/performance.md has the measurements). Used by entry.cc.
#pragma once

#include "plugins/ocl/variant.h"

namespace asr::ocl_nvidia {

// Lists the candidates, the default first. Warps of a group share its rows in local memory, and each warp has a state.
inline std::vector<gpu::GmmTuning> gmm_tunings(const gpu::DeviceFacts &, bool full) {
  const uint32_t factor_rows = full ? 2 : 1;
  const std::vector<std::vector<uint32_t>> tiles = {{32, 64, 128}, {32, 64}, {64}};
  std::vector<gpu::GmmTuning> tunings;
  for (const std::vector<uint32_t> &rows : tiles) {
    for (const uint32_t warps : {8, 4, 2}) {
      tunings.push_back({1, 1, 1, factor_rows, rows, warps, 32 * warps, true, 32, 8});
    }
  }
  return tunings;
}

// Complex numbers in the transforms of a work-group: 16 an item, 8 bytes of local memory each.
constexpr uint32_t kMfccPoints = 4096;

}  // namespace asr::ocl_nvidia
