// SPDX-License-Identifier: Apache-2.0
// LexicalGraph is L∘G: the grammar spelled in phones. It is minimal, and deterministic in the phones except for back-off and
// homophones; costs are as early as possible. It is built state by state from prefix trees instead of by composing and
// determinising automata. After a word L is always in the same state, so a grammar state is followed by the tree of its words.
// A hash of sub-trees makes trees share their ends.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "builder/graph/grammar.h"
#include "builder/graph/lexicon.h"

namespace asr {

// Called occasionally with a fraction of 0..1 and the current step. Building prints nothing itself.
using BuildProgress = std::function<void(double, const std::string &)>;

// Costs are rounded to multiples of this, so that sums of differences are exact and equal sub-trees have equal costs.
constexpr double kCostGrid = 1.0 / 4096;
float on_cost_grid(double cost);

// Returns a base phone and its position in a word as one number; 0 is epsilon.
constexpr uint32_t phone_label(uint32_t phone, WordPosition position) {
  return 1 + phone * 4 + static_cast<uint32_t>(position);
}
constexpr uint32_t label_phone(uint32_t label) { return (label - 1) / 4; }
constexpr WordPosition label_position(uint32_t label) { return static_cast<WordPosition>((label - 1) % 4); }
// Flag of labels that name a class, which is expanded later; no phone's label has this bit.
constexpr uint32_t kClassLabel = 0x80000000u;
constexpr uint32_t class_label(uint32_t word) { return kClassLabel | word; }
constexpr bool is_class_label(uint32_t label) { return (label & kClassLabel) != 0; }
constexpr uint32_t label_class(uint32_t label) { return label & ~kClassLabel; }
// The label of a phone of garbage, any phone of the model without its context.
constexpr uint32_t kGarbageLabel = 0x40000000u;
constexpr bool ends_word(uint32_t label) {
  return label != 0 && (label_position(label) == WordPosition::kEnd || label_position(label) == WordPosition::kSingle);
}

struct LexicalArc {
  uint32_t label;
  uint32_t word;  // 0: none
  float cost;
  uint32_t next;

  bool operator==(const LexicalArc &other) const {
    return label == other.label && word == other.word && cost == other.cost && next == other.next;
  }
};

// State s has arcs[begin[s] .. begin[s] + n_arcs[s]).
struct LexicalGraph {
  uint32_t start = 0;
  std::vector<uint64_t> begin;
  std::vector<uint32_t> n_arcs;
  std::vector<LexicalArc> arcs;
  std::vector<float> final_costs;
  uint64_t max_expanded_arcs = UINT64_MAX;  // of the grammar

  uint32_t n_states() const { return static_cast<uint32_t>(final_costs.size()); }
};

// Adds to the grammar the words that its results have instead of others (Lexicon::outputs_of), with the labels of those, so
// that make_lexical_graph uses them. ends_phrase (ClassGrammar) grows with the words.
void add_outputs(Grammar *grammar, const Lexicon &lexicon, std::vector<bool> *ends_phrase = nullptr);

// Makes the lexical graph. Names of classes keep their cost. Every other word costs word_cost more than in the grammar, and so
// does the end (the cost of no filler there).
LexicalGraph make_lexical_graph(const Grammar &grammar, const Lexicon &lexicon, double word_cost,
                                const BuildProgress &progress);

}  // namespace asr
