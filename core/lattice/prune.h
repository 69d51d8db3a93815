// SPDX-License-Identifier: Apache-2.0
// Costs of the best paths through a lattice, and pruning by them.
#pragma once

#include <vector>

#include "core/lattice/lattice.h"

namespace asr {

// Total costs; infinite where there is no path.
struct BestCosts {
  std::vector<double> from_start, to_end;  // [n_states]: of the best path from the start to a state, and from it to an end
  double best() const { return to_end.empty() ? kNoEnd.graph : to_end[0]; }
};
BestCosts best_costs(const CompactLattice &lattice, double acoustic_scale);

// The states, arcs and ends that lie on a path costing at most lattice_beam more than the best. What stays keeps its order;
// transition_ids keeps only what is used.
CompactLattice prune(const CompactLattice &lattice, double acoustic_scale, double lattice_beam);

}  // namespace asr
