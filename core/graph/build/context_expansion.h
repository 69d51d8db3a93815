// SPDX-License-Identifier: Apache-2.0
// H∘C∘(L∘G): gives every phone of the lexical graph the HMM of its neighbours, across words too, puts silence and fillers
// between words, and spells the HMMs as states.
#pragma once

#include <vector>

#include "core/graph/build/hmm_states.h"
#include "core/graph/build/lexical_graph.h"

namespace asr {

// A filler may be said any number of times at the start and after every word.
struct Filler {
  uint32_t phone;
  float cost;  // -ln of its probability there; that of none has been added to the words (make_lexical_graph)
};

struct Expansion {
  StateGraph graph;
  std::vector<Transition> transitions;  // [0] unused
};

Expansion expand_contexts(const LexicalGraph &lexical, const HmmSet &set, const ContextTable &contexts,
                          const std::vector<Filler> &fillers, const TransitionScales &scales, const BuildProgress &progress);

}  // namespace asr
