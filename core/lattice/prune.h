// SPDX-License-Identifier: Apache-2.0
// Computes the costs of the best paths through a lattice, and prunes by them.
#pragma once

#include <vector>

#include "core/lattice/lattice.h"

namespace asr {

// Total costs; infinite without a path.
struct BestCosts {
  std::vector<double> from_start, to_end;  // [n_states]: cost of the best path from the start, and to an end
  double best() const { return to_end.empty() ? kNoEnd.graph : to_end[0]; }
};
BestCosts best_costs(const CompactLattice &lattice, double acoustic_scale);

// Keeps the states, arcs and ends on paths that cost at most lattice_beam more than the best. Their order stays, and
// transition_ids keeps only the ids in use.
CompactLattice prune(const CompactLattice &lattice, double acoustic_scale, double lattice_beam);

}  // namespace asr
