// SPDX-License-Identifier: Apache-2.0
// MeanState is what one stream's normalisation passes on to another's, by asr_stream_get_state and asr_stream_set_state.
#pragma once

#include <string>
#include <variant>

#include "core/feature/live_mean.h"
#include "core/feature/whole_mean.h"

namespace asr {

using MeanState = std::variant<LiveMeanState, WholeMeanState>;

// Returns a state as bytes: kind, version, front end, checksum. The bytes are in the machine's byte order.
std::string state_to_bytes(const MeanState &state, const FrontEnd &front_end);
// Throws ASR_INVALID_ARGUMENT in the name of `who` if the bytes are not a state, damaged, or of other cepstra.
MeanState state_from_bytes(const void *bytes, size_t size, const FrontEnd &front_end, const char *who);

}  // namespace asr
