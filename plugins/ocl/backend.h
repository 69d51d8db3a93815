// SPDX-License-Identifier: Apache-2.0
// The table of an OpenCL back end, made of its Variant. Called by the entry.cc of each plugin; this library is linked into each
// of them, so that a process has one Variant for each.
#pragma once

#include "core/backend/asr_backend.h"
#include "plugins/ocl/variant.h"

namespace asr::gpu {

// Returns the table for asr_backend_entry. The variant must live as long as the plugin.
const asr_backend_api *backend_table(const Variant &variant, uint32_t host_abi, const asr_host_api *host);

}  // namespace asr::gpu
