// SPDX-License-Identifier: Apache-2.0
// Text of grammars: what their notations have in common.
#pragma once

#include <optional>
#include <string>

namespace asr {

// Throws unless the text is UTF-8 without zero bytes, which its users give out as C strings.
void check_grammar_text(const std::string &text, const std::string &source);

// A decimal number from 0 to the greatest float, with a point in every locale; unset if the text is anything else.
std::optional<double> parse_weight(const std::string &text);

}  // namespace asr
