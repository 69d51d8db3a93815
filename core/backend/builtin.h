// SPDX-License-Identifier: Apache-2.0
// The CPU back end (plugins/cpu) is linked into the library, so that one back end always exists. It uses the plugins' entry
// point.
#pragma once

#include "core/backend/asr_backend.h"

namespace asr {

const char *builtin_name();
asr_backend_entry_fn builtin_entry();

}  // namespace asr
