// SPDX-License-Identifier: Apache-2.0
// MfccPlan chooses and compiles the kernel for a front end on a device, and sets the capacity of its work-groups. Used by
// mfcc.cc.
#pragma once

#include "plugins/ocl/features/mfcc_batch.h"
#include "plugins/ocl/runtime/device.h"

namespace asr::gpu {

struct MfccPlan {
  MfccPlan(Device &device, const MfccOptions &options, uint32_t n_points, bool is_plp);
  bool in_registers;  // mfcc_512.cl; else mfcc.cl
  MfccRoom room{};
  uint32_t group_size;
  uint32_t max_groups;  // work-groups of a launch; they take all groups of frames
  Kernel kernel;
};

}  // namespace asr::gpu
