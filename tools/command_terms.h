// SPDX-License-Identifier: Apache-2.0
// Puts the messages of the library, which name C functions, fields and constants, into the terms of the command.
#pragma once

#include <string>

namespace asr::tool {

// Returns the message with options instead of fields ("--lattice-beam" for "asr_stream_config.lattice_beam"), and without the
// function that failed. Paths, quoted words and whatever else is no name of the C ABI stay as they are.
std::string in_command_terms(const std::string &message);

}  // namespace asr::tool
