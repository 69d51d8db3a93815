// SPDX-License-Identifier: Apache-2.0
// Grammars in the XML form of the W3C's SRGS 1.0: rule, item with repeat, repeat-prob and weight, one-of, token, tag and
// ruleref to rules of the same grammar, NULL and VOID. Refused: other grammars, GARBAGE, lexicons, DTMF.
#pragma once

#include <string>

#include "builder/graph/letter_case.h"
#include "builder/graph/rules.h"

namespace asr {

// The public rule is the grammar's root; without one, every rule whose scope is public. A repetition goes on with repeat-prob,
// one half where there is none.
Rules parse_srgs(const std::string &text, const std::string &source, LetterCase letter_case);

}  // namespace asr
