// SPDX-License-Identifier: Apache-2.0
// The kernels of the search as they are compiled for a device: size of a work-group, kind of warps, kind of atomic operations.
// Made by SearchLanes (search_lanes.h).
#pragma once

#include "plugins/ocl/runtime/device.h"

namespace asr::gpu {

// WarpKind names the operations that lanes of a work-group share (search_warp_*.h).
enum class WarpKind { kOne = 0, kNvidia = 1, kSubgroups = 2 };

struct SearchTuning {
  WarpKind warps;
  bool has_redux;  // kNvidia: one instruction reduces a warp's values
  bool int64_atomics;
  uint32_t group_size;
  uint32_t n_groups;                // most groups of a launch, each with scratch memory of its own
  uint32_t local_slots() const;     // capacity of the table in local memory, an odd number
  size_t local_bytes;               // local memory of a work-group
  uint32_t initial_capacity_shift;  // as asr_backend_options says, for the table in local memory
};

SearchTuning search_tuning(const DeviceFacts &facts, uint32_t initial_capacity_shift);

struct SearchProgram {
  SearchProgram(Device &device, const SearchTuning &tuning);
  uint32_t group_size, n_groups;
  Kernel search, best_path;
};

}  // namespace asr::gpu
