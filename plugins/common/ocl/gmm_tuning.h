// SPDX-License-Identifier: Apache-2.0
// Which of a variant's candidates the scoring kernels of a device use: the first, which is shipped for its architecture, or the
// one that `tune` measured to be the fastest there and kept in the user's cache.
#pragma once

#include <string>

#include "plugins/common/ocl/device.h"

namespace asr::ocl {

GmmTuning chosen_tuning(const Device &device, bool full);

// Scores windows of 8, 64 and 256 rows of a model with every candidate. Returns what was measured, a line each.
std::string tune(Device &device, const asr_acoustic_view &view);

}  // namespace asr::ocl
