// SPDX-License-Identifier: Apache-2.0
// Checks a plugin's file before dlopen. The dynamic loader crashes the process on a truncated shared object, for example during
// a copy of the file.
#pragma once

#include <string>

namespace asr {

// Returns true if the file contains every part that the dynamic loader would map. Also true for files that are not ELF: the
// dynamic loader reports these itself.
bool is_complete_shared_object(const std::string &path);

}  // namespace asr
