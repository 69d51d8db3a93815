// SPDX-License-Identifier: Apache-2.0
// Refuses the host's ABI.
#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) { return nullptr; }
