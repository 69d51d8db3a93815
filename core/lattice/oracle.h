// SPDX-License-Identifier: Apache-2.0
// Measures the quality and size of a lattice: the errors of its best word sequence, and its density. For `senone lattice
// stats`.
#pragma once

#include <vector>

#include "core/lattice/lattice.h"

namespace asr {

struct Oracle {
  uint32_t n_errors = 0;        // substitutions, deletions and insertions between `words` and the reference
  std::vector<uint32_t> words;  // words of a path with the fewest errors
};

// Words of the reference that are in no lattice may have any id unused in lattices. A lattice without a path counts as one with
// no words.
Oracle oracle_words(const CompactLattice &lattice, const std::vector<uint32_t> &reference);

// Density is arc_frames / frames: the average number of arcs (or ends that consume frames) per frame.
struct LatticeSize {
  uint64_t n_states = 0, n_arcs = 0;
  uint64_t n_frames = 0;    // frames of the longest path
  uint64_t arc_frames = 0;  // frames of all arcs and ends
  LatticeSize &operator+=(const LatticeSize &other);
};
LatticeSize lattice_size(const CompactLattice &lattice);

}  // namespace asr
