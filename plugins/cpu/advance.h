// SPDX-License-Identifier: Apache-2.0
// Advances channels over rows of the host, over rows of a score buffer, or over rows whose scores are made as the searches ask
// for them. entry.cc calls it for the slot of this name.
#pragma once

#include <cstddef>

#include "core/backend/asr_backend.h"
#include "plugins/cpu/device.h"

namespace asr::cpu {

// model: whose buffers the jobs read; may be nullptr. Throws for bad arguments. Other failures are the channels' outcomes.
void advance(Device &device, Acoustic *model, const asr_advance_job *jobs, size_t n_jobs);

}  // namespace asr::cpu
