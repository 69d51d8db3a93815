// SPDX-License-Identifier: Apache-2.0
// Replaces the language model of a lattice: subtracts the costs of the decoding graph's model from its paths, and adds
// another model's. For `senone lattice rescore` and asr_boost.
#pragma once

#include <cstddef>
#include <limits>

#include "core/base/stop.h"
#include "core/lattice/lattice.h"

namespace asr {

// WordScores assigns costs to word sequences, as a deterministic automaton whose states are created when they are first
// reached. Equal word sequences lead to equal states. The better an implementation merges states with the same future, the
// smaller is the rescored lattice.
class WordScores {
 public:
  virtual ~WordScores() = default;
  virtual uint32_t start() = 0;
  // Returns the cost of `word` after `state`, and the next state; infinite if the word cannot follow.
  virtual double advance(uint32_t state, uint32_t word, uint32_t *next) = 0;
  virtual double end(uint32_t state) = 0;  // the cost of ending; infinite if the sequence cannot end here
};

// Returns the lattice with graph costs minus `old_scores` plus `new_scores`. Paths without new scores are dropped. A path
// without old scores is an error (ASR_INVALID_ARGUMENT), since the graph cannot have been made of them. Alignments and acoustic
// costs stay, so one path per word sequence remains one path per word sequence. Throws ASR_UNSUPPORTED if the result exceeds
// the bounds, ASR_CANCELLED soon after it is stopped.
struct RescoreBounds {
  size_t max_states = std::numeric_limits<size_t>::max(), max_arcs = std::numeric_limits<size_t>::max();
  StopToken stop;
};
CompactLattice rescore(const CompactLattice &lattice, WordScores &old_scores, WordScores &new_scores,
                       const RescoreBounds &bounds = {});

}  // namespace asr
