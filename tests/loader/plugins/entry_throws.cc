// SPDX-License-Identifier: Apache-2.0
// Throws out of its entry function.
#include <stdexcept>

#include "tests/loader/plugins/stub.h"

const asr_backend_api *asr_backend_entry(uint32_t, const asr_host_api *) { throw std::runtime_error("stub entry"); }
