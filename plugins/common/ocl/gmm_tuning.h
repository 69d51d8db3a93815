// SPDX-License-Identifier: Apache-2.0
// Chooses among a variant's candidates for the scoring kernels of a device. The first is shipped for its architecture; `tune`
// measures the fastest and keeps it in the user's cache.
#pragma once

#include <string>

#include "plugins/common/ocl/device.h"

namespace asr::ocl {

GmmTuning chosen_tuning(const Device &device, bool full);

// Scores windows of 8, 64 and 256 rows of a model with every candidate. Returns what was measured, a line each.
std::string tune(Device &device, const asr_acoustic_view &view);

}  // namespace asr::ocl
