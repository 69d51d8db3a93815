// SPDX-License-Identifier: Apache-2.0
// How good and how large a lattice is: the errors of its best choice of words, and its density. For `senone lattice stats`.
#pragma once

#include <vector>

#include "core/lattice/lattice.h"

namespace asr {

struct Oracle {
  uint32_t n_errors = 0;        // substitutions, deletions and insertions between `words` and the reference
  std::vector<uint32_t> words;  // of a path with the fewest errors
};

// A word of the reference that no lattice has may have any id that no lattice has. A lattice without a path is taken for
// one with no words.
Oracle oracle_words(const CompactLattice &lattice, const std::vector<uint32_t> &reference);

// Density is arc_frames / frames: how many arcs (or ends that consume frames) a frame lies in, on average.
struct LatticeSize {
  uint64_t n_states = 0, n_arcs = 0;
  uint64_t n_frames = 0;    // of the longest path
  uint64_t arc_frames = 0;  // frames of all arcs and ends
  LatticeSize &operator+=(const LatticeSize &other);
};
LatticeSize lattice_size(const CompactLattice &lattice);

}  // namespace asr
