// SPDX-License-Identifier: Apache-2.0
// Graphs with classes. A grammar uses a class by its name, like a word, and is compiled without its content. Likewise a list of
// phrases is compiled without knowing its uses. Both are graphs with ports (context_expansion.h). Joining them copies states,
// so a changed list needs no recompilation of the grammar.
//
// The joined graph has the paths, words and costs of the same grammar with its phrases written out. It has more states, as
// states are not merged across ports.
#pragma once

#include <vector>

#include "builder/graph/build.h"

namespace asr {

struct OpenGraph {
  StateGraph graph;                     // minimal except for its ports
  std::vector<Transition> transitions;  // [0] unused
  std::vector<Port> ports;
};

// Compiles a grammar that may use classes (Grammar::is_class).
OpenGraph build_open_graph(const HmmSet &set, const ContextTable &contexts, const Lexicon &lexicon, const Grammar &grammar,
                           const GraphOptions &options);

// The phrases of a class. The last word of a phrase is another symbol than the same word elsewhere.
struct ClassGrammar {
  Grammar grammar;                // has one final state
  std::vector<bool> ends_phrase;  // [words]
};

// Throws if the grammar allows an empty sentence.
ClassGrammar class_grammar(const Grammar &grammar, const std::string &source);
OpenGraph build_class_graph(const HmmSet &set, const ContextTable &contexts, const Lexicon &lexicon,
                            const ClassGrammar &of_class, const GraphOptions &options);

// A list of phrases that replaces the name of a class.
struct ClassFilling {
  const OpenGraph *graph;
  std::vector<uint32_t> words;  // word of the list -> word of the joined graph
  float cost;                   // cost of choosing the list
};

// Joins a graph and the lists of its classes. `words` maps the grammar's words to the joined graph's; `fillings` are indexed by
// the grammar's words. Errors name the grammar by `source` if no sentence is left.
GraphData join_classes(const OpenGraph &open, const std::vector<uint32_t> &words,
                       const std::vector<std::vector<ClassFilling>> &fillings, uint32_t n_pdfs, uint32_t n_words,
                       const std::string &source);

}  // namespace asr
