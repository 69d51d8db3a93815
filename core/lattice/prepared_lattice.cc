// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/prepared_lattice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/error.h"

namespace asr {
namespace {

bool is_finite(const LatticeCost &cost) { return std::isfinite(cost.graph) && std::isfinite(cost.acoustic); }

// Returns the largest sum of absolute costs on a path.
double largest_sum(const Lattice &lattice) {
  const auto size = [](const LatticeCost &cost) {
    return is_finite(cost) ? std::max(std::fabs(cost.graph), std::fabs(cost.acoustic)) : 0;
  };
  std::vector<double> sums(lattice.n_states());
  for (uint32_t s = lattice.n_states(); s-- > 0;) {
    sums[s] = size(lattice.final_costs[s]);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      sums[s] = std::max(sums[s], size(lattice.arcs[a].cost) + sums[lattice.arcs[a].next_state]);
    }
  }
  return sums.empty() ? 0 : sums[0];
}

double quantum_of(const Lattice &lattice, double acoustic_scale) {
  const double bound = std::max(1.0, largest_sum(lattice));
  if (!std::isfinite(4 * bound * std::max(1.0, std::fabs(acoustic_scale)))) {
    fail(ASR_INVALID_ARGUMENT, "lattice: its costs are too large to be added up; it is damaged");
  }
  return std::ldexp(1.0, std::ilogb(bound) - 50);
}

[[noreturn]] void fail_damaged() {
  fail(ASR_INVALID_ARGUMENT, "lattice: its states are not in order of frames and arcs; it is damaged");
}

}  // namespace

void check_beam(double acoustic_scale, double lattice_beam) {
  if (!std::isfinite(acoustic_scale)) fail(ASR_INVALID_ARGUMENT, "acoustic_scale: is not a finite number");
  if (!(lattice_beam >= 0)) fail(ASR_INVALID_ARGUMENT, "lattice_beam: is negative or not a number");
}

// Checks the rules of lattice.h, as lattices come from back ends and files.
void check_states(const Lattice &lattice) {
  const uint32_t n = lattice.n_states();
  bool good = lattice.arc_begin.size() == size_t{n} + 1 && lattice.final_costs.size() == n && lattice.arc_begin[0] == 0 &&
              lattice.arc_begin[n] == lattice.arcs.size();
  for (uint32_t s = 0; good && s < n; ++s) {
    good = lattice.arc_begin[s] <= lattice.arc_begin[s + 1] && lattice.arc_begin[s + 1] <= lattice.arcs.size();
    for (uint64_t a = lattice.arc_begin[s]; good && a < lattice.arc_begin[s + 1]; ++a) {
      const LatticeArc &arc = lattice.arcs[a];
      good = arc.next_state > s && arc.next_state < n &&
             lattice.frames[arc.next_state] == lattice.frames[s] + (arc.transition_id != 0 ? 1 : 0);
    }
  }
  if (!good) fail_damaged();
}

void round_costs(Lattice &lattice, double quantum) {
  const auto round = [quantum](LatticeCost &cost) {
    cost.graph = std::nearbyint(cost.graph / quantum) * quantum + 0.0;  // + 0.0: no negative zeros
    cost.acoustic = std::nearbyint(cost.acoustic / quantum) * quantum + 0.0;
  };
  for (LatticeArc &arc : lattice.arcs) {
    if (is_finite(arc.cost)) round(arc.cost);
  }
  for (LatticeCost &cost : lattice.final_costs) is_finite(cost) ? round(cost) : void(cost = kNoEnd);
}

void find_costs_to_end(PreparedLattice &prepared, double acoustic_scale) {
  const Lattice &lattice = prepared.lattice;
  prepared.to_end = lattice.final_costs;
  prepared.total_to_end.resize(lattice.n_states());
  for (uint32_t s = lattice.n_states(); s-- > 0;) {
    LatticeCost best = prepared.to_end[s];
    double best_total = best.total(acoustic_scale);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const LatticeArc &arc = lattice.arcs[a];
      if (!is_finite(arc.cost) || !is_end(prepared.to_end[arc.next_state])) continue;
      const LatticeCost cost = arc.cost + prepared.to_end[arc.next_state];
      const double total = cost.total(acoustic_scale);
      if (total < best_total || (total == best_total && cost.graph < best.graph)) {
        best = cost;
        best_total = total;
      }
    }
    prepared.to_end[s] = best;
    prepared.total_to_end[s] = best_total;
  }
}

// Removes, in place, arcs and ends on no path within the limit, and moves arcs with words to the end of each state.
void prune_and_order(PreparedLattice &prepared, double acoustic_scale) {
  Lattice &lattice = prepared.lattice;
  std::vector<double> &from_start = prepared.from_start;
  prepared.word_arc_begin.clear();
  prepared.by_cost = false;
  uint64_t begin = 0, n_kept = 0;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    const uint64_t end = lattice.arc_begin[s + 1];
    const uint64_t first = n_kept;
    for (uint64_t a = begin; a < end; ++a) {
      const LatticeArc arc = lattice.arcs[a];
      const double cost = from_start[s] + arc.cost.total(acoustic_scale);
      const double through = cost + prepared.total_to_end[arc.next_state];
      if (!std::isfinite(through) || through > prepared.limit) continue;
      from_start[arc.next_state] = std::min(from_start[arc.next_state], cost);
      lattice.arcs[n_kept++] = arc;
    }
    const auto arcs = lattice.arcs.begin();
    const auto words = std::stable_partition(arcs + static_cast<ptrdiff_t>(first), arcs + static_cast<ptrdiff_t>(n_kept),
                                             [](const LatticeArc &arc) { return arc.word == 0; });
    prepared.word_arc_begin.push_back(static_cast<uint64_t>(words - arcs));
    lattice.arc_begin[s + 1] = n_kept;
    begin = end;
  }
  lattice.arcs.resize(n_kept);
}

void order_by_cost(PreparedLattice &prepared, double acoustic_scale) {
  if (prepared.by_cost) return;
  Lattice &lattice = prepared.lattice;
  const auto through = [&](const LatticeArc &arc) {
    return arc.cost.total(acoustic_scale) + prepared.total_to_end[arc.next_state];
  };
  const auto order = [&](uint64_t begin, uint64_t end) {
    const auto arcs = lattice.arcs.begin();
    std::sort(arcs + static_cast<ptrdiff_t>(begin), arcs + static_cast<ptrdiff_t>(end),
              [&](const LatticeArc &a, const LatticeArc &b) { return through(a) < through(b); });
  };
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    order(lattice.arc_begin[s], prepared.word_arc_begin[s]);
    order(prepared.word_arc_begin[s], lattice.arc_begin[s + 1]);
  }
  prepared.by_cost = true;
}

PreparedLattice prepare(Lattice lattice, double acoustic_scale, double lattice_beam) {
  check_beam(acoustic_scale, lattice_beam);
  check_states(lattice);
  if (lattice.n_states() > 0 && lattice.frames[0] != 0) fail_damaged();
  round_costs(lattice, quantum_of(lattice, acoustic_scale));
  PreparedLattice prepared;
  prepared.lattice = std::move(lattice);
  find_costs_to_end(prepared, acoustic_scale);
  if (prepared.empty()) return prepared;
  prepared.best = prepared.total_to_end[0];
  prepared.slack = 1e-9 * (1 + std::fabs(prepared.best));
  prepared.limit = prepared.best + lattice_beam + prepared.slack;
  prepared.from_start.assign(prepared.lattice.n_states(), kNoEnd.graph);
  prepared.from_start[0] = 0;
  prune_and_order(prepared, acoustic_scale);
  return prepared;
}

}  // namespace asr
