// SPDX-License-Identifier: Apache-2.0
// Computes H∘C∘(L∘G). It gives every phone of the lexical graph the HMM for its neighbours, also across words. It
// inserts silence and fillers between words, and expands the HMMs to states.
#pragma once

#include <vector>

#include "builder/graph/hmm_states.h"
#include "builder/graph/lexical_graph.h"
#include "builder/graph/right_contexts.h"

namespace asr {

// A filler may occur any number of times at the start and after every word.
struct Filler {
  uint32_t phone;
  float cost;  // -ln of its probability there; the cost of no filler is already in the words (make_lexical_graph)
};

// A port joins the graph of a class to a graph that uses it (open_graph.h), between a phone and the phones that may follow. An
// arc through a port has the transition-id kPortArc, and as its word 1 + the port's index.
struct Port {
  uint32_t word;       // at the entry of a class: the class's name among the grammar's words
  uint32_t left;       // neighbour
  NeighbourSet right;  // one phone, except for ports at the end of a class
};
constexpr uint32_t kPortArc = 0xffffffffu;

struct Expansion {
  StateGraph graph;
  std::vector<Transition> transitions;  // [0] unused
  std::vector<Port> ports;
};

Expansion expand_contexts(const LexicalGraph &lexical, const HmmSet &set, const ContextTable &contexts,
                          const std::vector<Filler> &fillers, const TransitionScales &scales, const BuildProgress &progress);

// Does the same for the phrases of a class, from the start of the lexical graph to `end`, with any neighbours. A port for each
// preceding phone and each first phone leads from the state `start`. Ports lead from the ends of phrases to a final state.
Expansion expand_class(const LexicalGraph &lexical, uint32_t end, const HmmSet &set, const ContextTable &contexts,
                       const std::vector<Filler> &fillers, const TransitionScales &scales);

}  // namespace asr
