// SPDX-License-Identifier: Apache-2.0
// Tags of a grammar: arcs of their own while its rules are spelled out, labels of words afterwards.
#pragma once

#include <string>
#include <vector>

#include "builder/graph/grammar.h"

namespace asr {

// A symbol of the automaton that rules spell out to.
struct RuleSymbol {
  enum Kind { kWord, kTagBehind, kTagAhead } kind = kWord;  // a tag of the word said before it, or of the one after it
  std::string text;                                         // of the word or tag
  std::string rule;                                         // of a word: the public rule of its sentence
  TextPlace place;
};

// Spelled-out rules: arcs carry indices of `symbols`; [0] is epsilon.
struct TaggedGrammar {
  std::vector<RuleSymbol> symbols;
  Grammar automaton;
};

// The same sentences with words alone, each labelled with its rule and its tags. A tag behind goes to the word said before it,
// or to the first word where there is none; a tag ahead to the next word. Tags of a sentence without words are dropped.
Grammar attach_tags(const TaggedGrammar &tagged, const std::string &source);

[[noreturn]] void fail_symbols(const std::string &source);  // they come to more than kMostSymbolBytes

}  // namespace asr
