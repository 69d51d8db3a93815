// SPDX-License-Identifier: Apache-2.0
// A lattice as files have it: states in any order, with any numbers. Readers of files fill it.
#pragma once

#include <vector>

#include "core/lattice/lattice.h"

namespace asr {

struct UnorderedLattice {
  struct Arc {
    uint32_t from, to, word;
    LatticeCost cost;
    Alignment alignment;
  };
  struct Ending {
    uint32_t state;
    CompactLattice::End end;
  };
  uint32_t start = 0;
  std::vector<Arc> arcs;
  std::vector<Ending> endings;
  std::vector<uint32_t> transition_ids;

  // What the start leads to, sorted: of the orders in which every arc ascends, the one nearest to the order of the numbers.
  // Arcs of a state keep their order. Fails with a sentence about what is wrong, to be put behind the name of the file:
  // ASR_BAD_FILE for cycles, states that end twice, and states to which paths of different lengths lead.
  CompactLattice sorted() const;
};

}  // namespace asr
