// SPDX-License-Identifier: Apache-2.0
// Rules of a grammar, as JSGF, SRGS and lists of phrases are read, and the word automaton that they spell out to.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "builder/graph/grammar.h"

namespace asr {

// A part of a rule's right side.
struct RuleNode {
  enum Kind { kWord, kRule, kTag, kSequence, kAlternatives, kRepeat } kind = kSequence;
  std::string name;  // of the word or rule; the tag's text
  std::vector<RuleNode> parts;
  std::vector<double> weights;  // of alternatives
  TextPlace place;
  uint32_t least = 1, most = 1;  // times that parts[0] is said, of kRepeat; most: kNoLimit for any number
  double again = 0.5;            // probability of each time after the least

  static constexpr uint32_t kNoLimit = 0xffffffffu;
};

struct Rules {
  struct Rule {
    RuleNode expansion;
    bool is_public;
  };
  std::map<std::string, Rule> rules;  // by name
};

// The name of a rule that says nothing, and of one that cannot be said.
constexpr char kNullRule[] = "NULL", kVoidRule[] = "VOID";

// The sentences of one rule, or of all public rules if `rule` is empty. Alternatives share their probability by their
// weights (equally without). A rule may refer to itself only as the last thing of an alternative. Words are labelled with the
// rule of their sentence and with tags (docs/grammars.md).
Grammar rules_grammar(const Rules &rules, const std::string &rule, const Vocabulary &vocabulary, const std::string &source);

}  // namespace asr
