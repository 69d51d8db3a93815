// SPDX-License-Identifier: Apache-2.0
// Grammars in the Java Speech Grammar Format: rules, alternatives with weights, [optional] and (grouped) parts, * and +, tags,
// <NULL> and <VOID>. Imports are not supported. An optional part is there or not with equal probability, a repetition goes on
// with probability one half.
#pragma once

#include <string>

#include "builder/graph/letter_case.h"
#include "builder/graph/rules.h"

namespace asr {

Rules read_jsgf(const std::string &path, LetterCase letter_case);
Rules parse_jsgf(const std::string &text, const std::string &source, LetterCase letter_case);

}  // namespace asr
