// SPDX-License-Identifier: Apache-2.0
// Graphs with classes. A grammar uses a class by its name, as if that were a word, and is compiled without knowing what the
// class holds; so is each list of phrases without knowing where it is used. Both are graphs with ports (context_expansion.h),
// and joining them is copying states: nothing is compiled again when a list changes.
//
// The joined graph has the paths, words and costs of the graph of the same grammar with the phrases written out. It has more
// states than that one, as states are not merged across ports.
#pragma once

#include <vector>

#include "builder/graph/build.h"

namespace asr {

struct OpenGraph {
  StateGraph graph;                     // minimal but for its ports
  std::vector<Transition> transitions;  // [0] unused
  std::vector<Port> ports;
};

// Compiles a grammar that may use classes (Grammar::is_class).
OpenGraph build_open_graph(const HmmSet &set, const ContextTable &contexts, const Lexicon &lexicon, const Grammar &grammar,
                           const GraphOptions &options);

// The phrases of a class. A word that ends one is another symbol than the same word before the end.
struct ClassGrammar {
  Grammar grammar;                // has one final state
  std::vector<bool> ends_phrase;  // [words]
};

// Throws if the grammar allows to say nothing.
ClassGrammar class_grammar(const Grammar &grammar, const std::string &source);
OpenGraph build_class_graph(const HmmSet &set, const ContextTable &contexts, const Lexicon &lexicon,
                            const ClassGrammar &of_class, const GraphOptions &options);

// A list of phrases that stands for the name of a class.
struct ClassFilling {
  const OpenGraph *graph;
  std::vector<uint32_t> words;  // of the joined graph, by the list's
  float cost;                   // of choosing it
};

// Joins a graph and the lists of its classes. `words`: of the joined graph, by the grammar's; `fillings`: by the grammar's
// words. `source` names the grammar where no sentence is left.
GraphData join_classes(const OpenGraph &open, const std::vector<uint32_t> &words,
                       const std::vector<std::vector<ClassFilling>> &fillings, uint32_t n_pdfs, uint32_t n_words,
                       const std::string &source);

}  // namespace asr
