// SPDX-License-Identifier: Apache-2.0
// The engine of the targets that call the C ABI.
#pragma once

#include "api/asr.h"

namespace asr::fuzz {

// Returns an engine of the tone bundle on the CPU with one thread, which the caller closes. A failure is a finding.
asr_engine *load_tone_engine();

}  // namespace asr::fuzz
