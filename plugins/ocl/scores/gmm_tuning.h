// SPDX-License-Identifier: Apache-2.0
// Chooses among a variant's candidates for the scoring kernels of a device. The first candidate is the default of the
// architecture. `tune` finds the fastest and keeps it in the user's cache.
#pragma once

#include <string>

#include "plugins/ocl/runtime/device.h"

namespace asr::gpu {

GmmTuning chosen_tuning(const Device &device, bool full);

// Scores windows of 8, 64 and 256 rows of a model with every candidate. Returns the times, a line each.
std::string tune(Device &device, const asr_acoustic_view &view);

}  // namespace asr::gpu
