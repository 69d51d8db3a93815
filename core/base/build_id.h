// SPDX-License-Identifier: Apache-2.0
// build_id() identifies the code of this library, so that what one build has checked is not trusted by another. The linker
// computes it from the linked code (--build-id), so nobody can forget to change it.
#pragma once

#include <string>

namespace asr {

// The GNU build id, in hexadecimal, of the library or program that contains this function; "" if it was linked without one.
const std::string &build_id();

}  // namespace asr
