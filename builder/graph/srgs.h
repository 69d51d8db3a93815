// SPDX-License-Identifier: Apache-2.0
// Reads grammars in the XML form of the W3C's SRGS 1.0. It knows rule, item with repeat, repeat-prob and weight,
// one-of, token and tag. A ruleref may name rules of the same grammar, NULL and VOID. It refuses other grammars,
// GARBAGE, lexicons and DTMF.
#pragma once

#include <string>

#include "builder/graph/letter_case.h"
#include "builder/graph/rules.h"

namespace asr {

// The public rule is the grammar's root; without a root, every rule with public scope is. A repetition continues with
// repeat-prob, by default one half.
Rules parse_srgs(const std::string &text, const std::string &source, LetterCase letter_case);

}  // namespace asr
