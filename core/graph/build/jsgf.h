// SPDX-License-Identifier: Apache-2.0
// Grammars in the Java Speech Grammar Format: rules, alternatives with weights, [optional] and (grouped) parts, * and +, tags,
// <NULL> and <VOID>. Imports are not supported; a rule may refer to itself only as the last thing of an alternative.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/build/grammar.h"
#include "core/graph/build/letter_case.h"

namespace asr {

// A part of a rule's right side.
struct JsgfNode {
  enum Kind { kWord, kRule, kSequence, kAlternatives, kOptional, kRepeat, kRepeatOnce } kind;  // kRepeat: *, kRepeatOnce: +
  std::string name;                                                                            // of the word or rule
  std::vector<JsgfNode> parts;
  std::vector<double> weights;  // of alternatives
};

struct Jsgf {
  struct Rule {
    JsgfNode expansion;
    bool is_public;
  };
  std::map<std::string, Rule> rules;  // by name, without <>
};

Jsgf read_jsgf(const std::string &path, LetterCase letter_case);
Jsgf parse_jsgf(const std::string &text, const std::string &source, LetterCase letter_case);

// The sentences of one rule, or of all public rules if `rule` is empty. Alternatives share their probability by their
// weights (equally without), an optional part is there or not with equal probability, a repetition goes on with probability
// one half.
Grammar jsgf_grammar(const Jsgf &jsgf, const std::string &rule, const Vocabulary &vocabulary, const std::string &source);

}  // namespace asr
