// SPDX-License-Identifier: Apache-2.0
// Reads grammars in the Java Speech Grammar Format: rules, alternatives with weights, [optional] and (grouped) parts, * and +,
// tags, <NULL> and <VOID>. A file may import rules of other files beside it (jsgf_imports.h); a text in memory may not. An
// optional part has probability one half, and so has each further repetition.
#pragma once

#include <string>

#include "builder/graph/letter_case.h"
#include "builder/graph/rules.h"

namespace asr {

Rules read_jsgf(const std::string &path, LetterCase letter_case);
Rules parse_jsgf(const std::string &text, const std::string &source, LetterCase letter_case);

}  // namespace asr
