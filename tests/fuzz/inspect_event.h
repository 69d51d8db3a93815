// SPDX-License-Identifier: Apache-2.0
// Checks of an event's values, for the targets that call the C ABI. A value that the ABI rules out is a finding.
#pragma once

#include "api/asr.h"

namespace asr::fuzz {

void inspect(const asr_event *event);
void inspect_words(const asr_event *event, size_t alternative);

}  // namespace asr::fuzz
