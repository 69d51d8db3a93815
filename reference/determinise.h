// SPDX-License-Identifier: Apache-2.0
// determinise() by definition: enumerates every path of a small lattice.
#pragma once

#include <map>
#include <vector>

#include "core/lattice/lattice.h"

namespace asr::reference {

struct WordSequencePath {
  LatticeCost cost;
  std::vector<uint32_t> transition_ids;
};

// Returns the best path of every word sequence within lattice_beam of the best. Totals that differ by at most `same` count as
// equal. Then the lower graph cost decides, with the same tolerance, then the first alignment in the order of numbers.
std::map<std::vector<uint32_t>, WordSequencePath> determinise(const Lattice &lattice, double acoustic_scale,
                                                              double lattice_beam, double same);

// Returns all paths of a compact lattice in unspecified order; several may have the same words.
std::vector<std::pair<std::vector<uint32_t>, WordSequencePath>> all_paths(const CompactLattice &lattice);

}  // namespace asr::reference
