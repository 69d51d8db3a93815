// SPDX-License-Identifier: Apache-2.0
// Owners of the C ABI's handles, for the subcommands that use it.
#pragma once

#include <memory>

#include "api/asr.h"

namespace asr::tool {

using EnginePointer = std::unique_ptr<asr_engine, void (*)(asr_engine *)>;
using StreamPointer = std::unique_ptr<asr_stream, void (*)(asr_stream *)>;
using EventPointer = std::unique_ptr<asr_event, void (*)(asr_event *)>;

}  // namespace asr::tool
