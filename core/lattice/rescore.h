// SPDX-License-Identifier: Apache-2.0
// Another language model for the words of a lattice: the costs of the one that the decoding graph had are taken off its
// paths, those of another are added. For `senone lattice rescore` and asr_boost.
#pragma once

#include <cstddef>
#include <limits>

#include "core/base/stop.h"
#include "core/lattice/lattice.h"

namespace asr {

// What gives word sequences a cost, as a deterministic automaton whose states come into being when they are first reached.
// Equal word sequences lead to equal states; the better an implementation merges states that have the same future, the
// smaller is what comes of a lattice.
class WordScores {
 public:
  virtual ~WordScores() = default;
  virtual uint32_t start() = 0;
  // The cost of `word` after `state`, and where it leads; infinite if the word cannot follow.
  virtual double advance(uint32_t state, uint32_t word, uint32_t *next) = 0;
  virtual double end(uint32_t state) = 0;  // the cost of ending; infinite if that is not allowed
};

// The lattice with graph costs less `old_scores` plus `new_scores`. Paths that the new scores do not allow are left out;
// one that the old scores do not allow is an error (ASR_INVALID_ARGUMENT), since the graph cannot have been made of them.
// Alignments and acoustic costs stay, so a lattice with one path a word sequence gives one with one path a word sequence.
// Throws ASR_UNSUPPORTED if it comes to more than the bounds say, ASR_CANCELLED soon after it is stopped.
struct RescoreBounds {
  size_t most_states = std::numeric_limits<size_t>::max(), most_arcs = std::numeric_limits<size_t>::max();
  StopToken stop;
};
CompactLattice rescore(const CompactLattice &lattice, WordScores &old_scores, WordScores &new_scores,
                       const RescoreBounds &bounds = {});

}  // namespace asr
