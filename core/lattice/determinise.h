// SPDX-License-Identifier: Apache-2.0
// From the state-level lattice of a search to the lattice that users get: one path for each word sequence, with its best
// alignment. Called by the engine for final results and by the lattice tools for files. docs/lattices.md has the definition.
#pragma once

#include "core/lattice/lattice.h"

namespace asr {

struct DeterminiseOptions {
  double acoustic_scale = 1;
  double lattice_beam = 8;
  uint64_t max_work = uint64_t{1} << 28;  // arcs followed and ids stored: bounds time and memory
};

struct Determinised {
  CompactLattice lattice;
  double beam = 0;  // how wide the lattice is: lattice_beam, or less if max_work was reached
};

// Every word sequence whose best path costs at most lattice_beam more than the best of all is a path of the result, the only
// one with these words, with the costs and transition-ids of that best path. Every arc of the result lies on such a path. Of
// paths of equal total cost the best is the one with the lower graph cost, then the one with the lower transition-id where
// the two alignments first differ. Costs are exact but for one rounding of each arc, to 2^-50 of the largest sum on a path.
//
// Word sequences are found from the best on, so a search that reaches max_work still gives all those within a narrower beam
// (`beam`), the best among them always. Throws ASR_INVALID_ARGUMENT if the lattice breaks the rules of lattice.h.
Determinised determinise(Lattice lattice, const DeterminiseOptions &options);

}  // namespace asr
