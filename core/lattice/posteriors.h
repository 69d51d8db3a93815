// SPDX-License-Identifier: Apache-2.0
// Computes probabilities of a lattice's arcs and states, given its audio, by the forward-backward algorithm. Confidences,
// confusion networks and other averages over paths use them.
#pragma once

#include <vector>

#include "core/base/stop.h"
#include "core/lattice/lattice.h"

namespace asr {

// The probability of a path is exp(-total cost), divided by the sum over all paths of the lattice.
struct LatticePosteriors {
  std::vector<double> arcs;    // [n_arcs]: share of the paths through the arc
  std::vector<double> states;  // [n_states]
  std::vector<double> ends;    // [n_states]: share of the paths that end in the state
  double log_sum = 0;          // ln of the sum over all paths
};

// Finite costs of any size give posteriors from 0 to 1. If the lattice has no path, all are zero and log_sum is -infinity.
// Throws ASR_CANCELLED if it is stopped.
LatticePosteriors lattice_posteriors(const CompactLattice &lattice, double acoustic_scale, const StopToken &stop = {});
LatticePosteriors lattice_posteriors(const Lattice &lattice, double acoustic_scale, const StopToken &stop = {});

}  // namespace asr
