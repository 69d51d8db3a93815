// SPDX-License-Identifier: Apache-2.0
// Rules of a grammar, read from JSGF, SRGS and lists of phrases, and the word automaton into which they are expanded.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "builder/graph/grammar.h"

namespace asr {

// A part of a rule's right-hand side.
struct RuleNode {
  enum Kind { kWord, kRule, kTag, kSequence, kAlternatives, kRepeat } kind = kSequence;
  std::string name;  // name of the word or rule; text of the tag
  std::vector<RuleNode> parts;
  std::vector<double> weights;  // weights of kAlternatives
  TextPlace place;
  uint32_t least = 1, most = 1;  // for kRepeat, bounds on the repetitions of parts[0]; most: kNoLimit for any number
  double again = 0.5;            // probability of each repetition beyond `least`

  static constexpr uint32_t kNoLimit = 0xffffffffu;
};

struct Rules {
  struct Rule {
    RuleNode expansion;
    bool is_public;
  };
  std::map<std::string, Rule> rules;  // key: name
  std::string grammar;                // the grammar's name, "com.acme.commands", by which a rule may be named in full
};

// Names of the rule for an empty text, of the rule that cannot be spoken, and of the rule for any speech or none.
constexpr char kNullRule[] = "NULL", kVoidRule[] = "VOID", kGarbageRule[] = "GARBAGE";
inline bool is_special_rule(const std::string &name) { return name == kNullRule || name == kVoidRule || name == kGarbageRule; }

// Cost of a phone of garbage, beside that of choosing it among all phones, so that words which fit a sound as well as any
// phones win (docs/grammars.md).
constexpr float kGarbageCost = 1.5f;

// Returns the sentences of one rule (action, <action>, commands.action), or of all public rules if `rule` is empty.
// Alternatives share their probability by their weights (equally without). A rule may refer to itself only as the last part of
// an alternative. Words are labelled with the rule of their sentence and with tags (docs/grammars.md).
Grammar rules_grammar(const Rules &rules, const std::string &rule, const Vocabulary &vocabulary, const std::string &source);

}  // namespace asr
