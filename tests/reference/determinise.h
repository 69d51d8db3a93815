// SPDX-License-Identifier: Apache-2.0
// determinise() by definition: every path of a small lattice is looked at.
#pragma once

#include <map>
#include <vector>

#include "core/lattice/lattice.h"

namespace asr::reference {

struct WordSequencePath {
  LatticeCost cost;
  std::vector<uint32_t> transition_ids;
};

// The best path of every word sequence within lattice_beam of the best. Totals that differ by no more than `same` count as
// equal; then the lower graph cost decides, by the same measure, then the alignment that comes first in the order of numbers.
std::map<std::vector<uint32_t>, WordSequencePath> determinise(const Lattice &lattice, double acoustic_scale,
                                                              double lattice_beam, double same);

// All paths of a compact lattice, in no certain order: several may have the same words.
std::vector<std::pair<std::vector<uint32_t>, WordSequencePath>> all_paths(const CompactLattice &lattice);

}  // namespace asr::reference
