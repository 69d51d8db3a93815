// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/search/search_program.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/gpu/runtime/open_options.h"
#include "plugins/gpu/search/search_types.h"
#include "plugins/ocl/runtime/kernels.h"

namespace asr::gpu {
namespace {

// Sub-groups have half as many work-items, so that AMD has enough registers for the kernel. On a CPU a work-group is
// one work-item and the kernel has no barriers: compilers such as PoCL's copy code for every path between barriers.
constexpr uint32_t kGpuGroupSize = 1024, kSubgroupsGroupSize = 512, kHostGroupSize = 1;
constexpr size_t kLaneBytes = 1024, kMaxSlots = 8191;  // less than half of the usual max_slots
constexpr uint32_t kMinSlots = 1537;                   // enough for bins and few keys of the selection, and for closing gaps
static_assert(2 * kMinSlots >= kBins + 2 * kFewKeys && 2 * kMinSlots >= 3 * kGpuGroupSize);
constexpr uint32_t kReduxCapability = 8;

std::string options_of(const SearchTuning &tuning) {
  std::string options =
      format("-DGROUP_SIZE=%u -DWARP_KIND=%d -DWARP_REDUX=%d -DINT64_ATOMICS=%d -DLOCAL_SLOTS=%u", tuning.group_size,
             static_cast<int>(tuning.warps), tuning.has_redux ? 1 : 0, tuning.int64_atomics ? 1 : 0, tuning.local_slots());
  if (tuning.warps == WarpKind::kSubgroups) options += " -cl-std=CL2.0";
  return options;
}

}  // namespace

uint32_t SearchTuning::local_slots() const {
  const size_t min_warp = warps == WarpKind::kNvidia ? 32 : warps == WarpKind::kSubgroups ? 8 : 1;
  const size_t n_bytes = local_bytes - kLaneBytes - group_size / min_warp * sizeof(uint32_t);
  const auto n_slots = static_cast<uint32_t>(std::min(n_bytes / (2 * sizeof(uint32_t)), kMaxSlots) - 1) | 1;
  return initial_capacity(n_slots, initial_capacity_shift, kMinSlots) | 1;
}

SearchTuning search_tuning(const DeviceFacts &facts, uint32_t initial_capacity_shift) {
  const uint32_t capability = facts.nvidia_capability;
  SearchTuning tuning{WarpKind::kOne,        capability >= kReduxCapability, facts.has_int64_atomics,
                      kHostGroupSize,        facts.n_compute_units,          facts.local_bytes,
                      initial_capacity_shift};
  if (!facts.is_gpu) return tuning;
  tuning.group_size = kGpuGroupSize;
  if (capability > 0) {
    tuning.warps = WarpKind::kNvidia;
  } else if (facts.has_subgroups) {
    tuning.warps = WarpKind::kSubgroups;
    tuning.group_size = kSubgroupsGroupSize;
  }
  while (tuning.group_size > facts.group_size) tuning.group_size /= 2;
  return tuning;
}

SearchProgram::SearchProgram(Device &device, const SearchTuning &tuning)
    : group_size(tuning.group_size),
      n_groups(tuning.n_groups),
      search(device.program(kernel_search, options_of(tuning)).kernel("search")),
      best_path(device.program(kernel_search, options_of(tuning)).kernel("search_path")) {}

}  // namespace asr::gpu
