// SPDX-License-Identifier: Apache-2.0
// Lists of phrases: one of them, a phrase a line, with tags in braces.
#pragma once

#include <string>

#include "core/graph/build/letter_case.h"
#include "core/graph/build/rules.h"

namespace asr {

// Empty lines and lines that begin with '#' do not count. The only rule has the name "".
Rules parse_phrases(const std::string &text, const std::string &source, LetterCase letter_case);

}  // namespace asr
