// SPDX-License-Identifier: Apache-2.0
// How much of a device's own memory a bundle takes, by purpose: for `senone info --device` and `senone bench decode`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/backend/registry.h"

namespace asr::tool {

// What the back end says of itself; throws ASR_UNSUPPORTED where it does not.
asr_backend_memory memory_of(const Device &device);

// Loads the bundle on the device and begins a stream without lattices and one with: MB of each part, and of a lane and a
// channel.
nlohmann::ordered_json device_memory(const std::string &bundle, const std::string &device);

}  // namespace asr::tool
