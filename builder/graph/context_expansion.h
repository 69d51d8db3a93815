// SPDX-License-Identifier: Apache-2.0
// H∘C∘(L∘G): gives every phone of the lexical graph the HMM of its neighbours, across words too, puts silence and fillers
// between words, and spells the HMMs as states.
#pragma once

#include <vector>

#include "builder/graph/hmm_states.h"
#include "builder/graph/lexical_graph.h"
#include "builder/graph/right_contexts.h"

namespace asr {

// A filler may be said any number of times at the start and after every word.
struct Filler {
  uint32_t phone;
  float cost;  // -ln of its probability there; that of none has been added to the words (make_lexical_graph)
};

// A place where the graph of a class is joined to one that uses it (open_graph.h): between a phone and those that may follow.
// An arc through a port has the transition-id kPortArc, and as its word 1 + the port's index.
struct Port {
  uint32_t word;       // where a class is entered: its name among the grammar's words
  uint32_t left;       // neighbour
  NeighbourSet right;  // one, but for ports at the end of a class
};
constexpr uint32_t kPortArc = 0xffffffffu;

struct Expansion {
  StateGraph graph;
  std::vector<Transition> transitions;  // [0] unused
  std::vector<Port> ports;
};

Expansion expand_contexts(const LexicalGraph &lexical, const HmmSet &set, const ContextTable &contexts,
                          const std::vector<Filler> &fillers, const TransitionScales &scales, const BuildProgress &progress);

// The same for the phrases of a class, from the start of the lexical graph to `end`, in any surroundings: a port for each
// phone before and each first phone leads from the state `start`, and ports lead from the ends of phrases to a final state.
Expansion expand_class(const LexicalGraph &lexical, uint32_t end, const HmmSet &set, const ContextTable &contexts,
                       const std::vector<Filler> &fillers, const TransitionScales &scales);

}  // namespace asr
