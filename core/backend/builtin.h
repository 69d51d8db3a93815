// SPDX-License-Identifier: Apache-2.0
// The back end that is part of the library, so that one is never missing: plugins/cpu, through the entry point of plugins.
#pragma once

#include "core/backend/asr_backend.h"

namespace asr {

const char *builtin_name();
asr_backend_entry_fn builtin_entry();

}  // namespace asr
