// SPDX-License-Identifier: Apache-2.0
// PreparedLattice is the form of a lattice on which determinise() works.
#pragma once

#include <vector>

#include "core/lattice/lattice.h"

namespace asr {

// It has only arcs on paths within the beam; in each state the arcs without a word come first. All costs are multiples of a
// power of two, large enough that sums and differences of path costs are exact. So equal costs compare equal in any order of
// addition.
struct PreparedLattice {
  Lattice lattice;
  std::vector<uint64_t> word_arc_begin;  // [n_states]: the first arc with a word
  std::vector<LatticeCost> to_end;       // [n_states]: cost of the best path to an end; kNoEnd
  std::vector<double> total_to_end;      // [n_states]
  std::vector<double> from_start;        // [n_states]: total cost of the best path from the start
  double best = 0;                       // total cost of the best path
  double limit = 0;                      // paths above this cost are outside the beam
  double slack = 0;                      // of limit over the best cost and the beam
  bool by_cost = false;  // true: the arcs before word_arc_begin, and those from it on, are in the order of costs

  bool empty() const { return to_end.empty() || !is_end(to_end[0]); }
};

PreparedLattice prepare(Lattice lattice, double acoustic_scale, double lattice_beam);

// Orders the arcs of each state, those without a word and those with one, by the cost of their best way to an end. A narrower
// beam then meets the arcs that are within it first, and none of the others.
void order_by_cost(PreparedLattice &prepared, double acoustic_scale);

// The steps of prepare(), for a lattice that arrives in pieces.
void check_beam(double acoustic_scale, double lattice_beam);
void check_states(const Lattice &lattice);
void round_costs(Lattice &lattice, double quantum);
void find_costs_to_end(PreparedLattice &prepared, double acoustic_scale);
void prune_and_order(PreparedLattice &prepared, double acoustic_scale);  // lowers from_start to the values for the kept arcs

}  // namespace asr
