// SPDX-License-Identifier: Apache-2.0
// Parses lists of keywords, and makes the grammar that finds them anywhere in speech.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "builder/graph/grammar.h"
#include "builder/graph/letter_case.h"
#include "builder/graph/rules.h"

namespace asr {

// The threshold of keywords whose line has none (docs/keywords.md).
constexpr double kKeywordThreshold = 0.5;

struct Keywords {
  RuleNode phrases;                // alternatives, each with the words and tags of a keyword
  std::vector<std::string> names;  // [phrases]: its words, joined by blanks
  std::vector<double> thresholds;  // [phrases]

  std::map<std::string, double> threshold_of() const;  // by name
};

// Parses lines "phrase", "phrase {tag} /threshold/". Ignores empty lines and lines that begin with '#'. Throws if there are no
// keywords, if one is listed twice, and if a threshold is not in 0..1, as those of PocketSphinx's lists.
Keywords parse_keywords(const std::string &text, const std::string &source, LetterCase letter_case);

// Returns any number of keywords and phones of garbage, in any order. The rule of a keyword's words is its name.
Grammar keyword_grammar(const Keywords &keywords, const Vocabulary &vocabulary, const std::string &source);

}  // namespace asr
