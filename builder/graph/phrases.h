// SPDX-License-Identifier: Apache-2.0
// Lists of phrases: one of them, a phrase a line, with tags in braces.
#pragma once

#include <string>

#include "builder/graph/letter_case.h"
#include "builder/graph/rules.h"

namespace asr {

// Empty lines and lines that begin with '#' do not count. The only rule has the name "". Throws if there are no phrases.
Rules parse_phrases(const std::string &text, const std::string &source, LetterCase letter_case);

// The same in two steps: a sequence of words and tags for each phrase, which may be none, and their rule.
RuleNode phrase_alternatives(const std::string &text, const std::string &source, LetterCase letter_case);
Rules phrase_rules(RuleNode phrases);

}  // namespace asr
