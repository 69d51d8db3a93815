// SPDX-License-Identifier: Apache-2.0
// How probable the arcs and states of a lattice are, given its audio: the forward-backward algorithm. Used for confidences,
// confusion networks and whatever else averages over paths.
#pragma once

#include <vector>

#include "core/base/stop.h"
#include "core/lattice/lattice.h"

namespace asr {

// The probability of a path is exp(-total cost) over the sum of that for all paths of the lattice.
struct LatticePosteriors {
  std::vector<double> arcs;    // [n_arcs]: share of the paths through the arc
  std::vector<double> states;  // [n_states]
  std::vector<double> ends;    // [n_states]: share of the paths that end in the state
  double log_sum = 0;          // ln of the sum over all paths
};

// Finite costs of any size give posteriors from 0 to 1. All are zero, log_sum is -infinity, if the lattice has no path. Throws
// ASR_CANCELLED if it is stopped.
LatticePosteriors lattice_posteriors(const CompactLattice &lattice, double acoustic_scale, const StopToken &stop = {});

}  // namespace asr
