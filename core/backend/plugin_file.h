// SPDX-License-Identifier: Apache-2.0
// A look at a plugin's file before dlopen: the dynamic loader crashes the process on a shared object that was cut short, for
// example while it is being copied.
#pragma once

#include <string>

namespace asr {

// Whether every part of the file that the dynamic loader would map is there. True also for what is no ELF file at all: the
// dynamic loader says so itself.
bool is_complete_shared_object(const std::string &path);

}  // namespace asr
