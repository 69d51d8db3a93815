// SPDX-License-Identifier: Apache-2.0
// Text functions shared by the notations of grammars.
#pragma once

#include <optional>
#include <string>

namespace asr {

// Throws unless the text is UTF-8 without zero bytes, since it is later returned as C strings.
void check_grammar_text(const std::string &text, const std::string &source);

// Parses a decimal number from 0 to the greatest float, with a decimal point in every locale; unset for any other text.
std::optional<double> parse_weight(const std::string &text);

}  // namespace asr
