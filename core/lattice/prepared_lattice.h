// SPDX-License-Identifier: Apache-2.0
// The lattice as determinise() works on it.
#pragma once

#include <vector>

#include "core/lattice/lattice.h"

namespace asr {

// Only arcs on paths within the beam; of each state those without a word come first. All costs are multiples of a power of
// two so large that sums and differences of path costs are exact: equal costs compare equal however they were added up.
struct PreparedLattice {
  Lattice lattice;
  std::vector<uint64_t> word_arc_begin;  // [n_states]: the first arc with a word
  std::vector<LatticeCost> to_end;       // [n_states]: of the best path to an end; kNoEnd
  std::vector<double> total_to_end;      // [n_states]
  std::vector<double> from_start;        // [n_states]: total cost of the best path from the start
  double best = 0;                       // total cost of the best path
  double limit = 0;                      // paths that cost more are outside the beam

  bool empty() const { return to_end.empty() || !is_end(to_end[0]); }
};

PreparedLattice prepare(Lattice lattice, double acoustic_scale, double lattice_beam);

// The parts of prepare(), for a lattice that comes in pieces.
void check_beam(double acoustic_scale, double lattice_beam);
void check_states(const Lattice &lattice);
void round_costs(Lattice &lattice, double quantum);
void find_costs_to_end(PreparedLattice &prepared, double acoustic_scale);
void prune_and_order(PreparedLattice &prepared, double acoustic_scale);  // lowers from_start to what the kept arcs give

}  // namespace asr
