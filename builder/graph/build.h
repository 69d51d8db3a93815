// SPDX-License-Identifier: Apache-2.0
// Builds a decoding graph from a model's HMMs, a lexicon and a grammar. Called by `senone graph` and libsenone_build; not part
// of libsenone.
#pragma once

#include <vector>

#include "builder/graph/context_expansion.h"
#include "builder/graph/grammar.h"
#include "builder/graph/lexicon.h"
#include "builder/graph/token_expansion.h"
#include "core/graph/graph.h"

namespace asr {

struct GraphOptions {
  TransitionScales scales;
  double silence_prob = 0.3;            // probability of silence before each word and at the end
  double filler_prob = 1e-4;            // probability of each other filler phone there
  std::vector<uint32_t> filler_phones;  // filler phones other than silence
  TokenFrames tokens;                   // of a model of tokens, which has no fillers
  uint32_t n_threads = 1;               // 0: one for each core; the graph does not depend on it

  bool operator==(const GraphOptions &other) const {
    return scales == other.scales && silence_prob == other.silence_prob && filler_prob == other.filler_prob &&
           filler_phones == other.filler_phones && tokens == other.tokens;
  }
};

struct GraphSizes {
  uint64_t grammar_states, grammar_arcs, lexical_states, lexical_arcs, expanded_states, expanded_arcs;
};

// Returns the fillers allowed between words, and the cost of no filler.
std::vector<Filler> make_fillers(const HmmSet &set, const GraphOptions &options, double *cost_of_none);

GraphData build_graph(const HmmSet &set, const ContextTable &contexts, const Lexicon &lexicon, const Grammar &grammar,
                      const GraphOptions &options, const BuildProgress &progress, GraphSizes *sizes);
GraphData build_graph(const HmmSet &set, const Lexicon &lexicon, const Grammar &grammar, const GraphOptions &options,
                      const BuildProgress &progress, GraphSizes *sizes);

}  // namespace asr
