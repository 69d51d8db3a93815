// SPDX-License-Identifier: Apache-2.0
// Tags of a grammar: separate arcs while rules are expanded, labels of words afterwards.
#pragma once

#include <string>
#include <vector>

#include "builder/graph/grammar.h"

namespace asr {

// A symbol of the automaton to which rules are expanded.
struct RuleSymbol {
  // A tag belongs to the preceding word, or to the following one. kGarbage: a phone of any speech; kBarrier begins garbage,
  // which may be empty: a tag behind it does not belong to the word before it.
  enum Kind { kWord, kTagBehind, kTagAhead, kGarbage, kBarrier } kind = kWord;
  std::string text;  // text of the word or tag
  std::string rule;  // for a word: the public rule of its sentence
  TextPlace place;
};

// Expanded rules: arcs carry indices of `symbols`; [0] is epsilon.
struct TaggedGrammar {
  std::vector<RuleSymbol> symbols;
  Grammar automaton;
};

// Returns the same sentences with words only, each labelled with its rule and its tags. A tag behind belongs to the preceding
// word, or to the next word if none precedes or garbage lies between. A tag ahead belongs to the next word. Tags without such a
// word are dropped.
Grammar attach_tags(const TaggedGrammar &tagged, const std::string &source);

[[noreturn]] void fail_symbols(const std::string &source);  // for symbols that exceed kMaxSymbolBytes in total

}  // namespace asr
