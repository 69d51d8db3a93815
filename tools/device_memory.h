// SPDX-License-Identifier: Apache-2.0
// Measures a bundle's use of device memory, by purpose, for `senone info --device` and `senone bench decode`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/backend/asr_backend_bench.h"
#include "core/backend/registry.h"

namespace asr::tool {

// Returns true if the back end reports its memory use.
bool tells_memory(const Device &device);
// Returns the back end's own figures; throws ASR_UNSUPPORTED if it has none.
asr_backend_memory memory_of(const Device &device);

// Loads the bundle on the device and begins a stream without lattices and one with. Returns the MB of each part, and of a lane
// and a channel. If the device does not search, it names the one that does instead of graph, lanes and channels.
nlohmann::ordered_json device_memory(const std::string &bundle, const std::string &device);

}  // namespace asr::tool
