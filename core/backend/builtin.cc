// SPDX-License-Identifier: Apache-2.0
#include "core/backend/builtin.h"

extern "C" const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host);

namespace asr {

const char *builtin_name() { return "cpu"; }
asr_backend_entry_fn builtin_entry() { return asr_backend_entry; }

}  // namespace asr
