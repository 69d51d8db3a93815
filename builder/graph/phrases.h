// SPDX-License-Identifier: Apache-2.0
// Parses lists of phrases, one per line, with tags in braces.
#pragma once

#include <string>

#include "builder/graph/letter_case.h"
#include "builder/graph/rules.h"

namespace asr {

// Ignores empty lines and lines that begin with '#'. The only rule has the name "". Throws if there are no phrases.
Rules parse_phrases(const std::string &text, const std::string &source, LetterCase letter_case);

// The two steps of parse_phrases: alternatives with a sequence of words and tags per phrase, possibly none, and their rule.
RuleNode phrase_alternatives(const std::string &text, const std::string &source, LetterCase letter_case);
Rules phrase_rules(RuleNode phrases);

}  // namespace asr
