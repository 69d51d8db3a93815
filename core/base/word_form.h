// SPDX-License-Identifier: Apache-2.0
// Forms in which words are equal that were written in different ways: for lookups, since the forms are not shown. The core has
// tables of its own, so that it needs no library of Unicode; texts of users are normalised by builder/text/unicode.h.
#pragma once

#include <string>
#include <string_view>

namespace asr {

// Returns UTF-8 text with letters taken apart into base letter and marks, so that words are equal whose normal forms C are.
// Knows the letters of Unicode's first plane. Bytes that are no UTF-8 stay as they are.
std::string without_composites(std::string_view text);

// Returns such text with capital letters as small ones.
std::string without_case(std::string_view text);

}  // namespace asr
