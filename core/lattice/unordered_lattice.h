// SPDX-License-Identifier: Apache-2.0
// UnorderedLattice is a lattice as files store it: states in any order, with any numbers. Readers of files fill it.
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

  // Returns the states reachable from the start, sorted. Among the orders in which every arc ascends, it is the one
  // nearest to the order of the numbers. Arcs of a state keep their order. Errors are messages to follow the name of
  // the file: ASR_BAD_FILE for cycles, states that end twice, and states reached by paths of different lengths.
  CompactLattice sorted() const;
};

}  // namespace asr
