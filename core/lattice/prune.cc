// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/prune.h"

#include <algorithm>
#include <cmath>

namespace asr {

BestCosts best_costs(const CompactLattice &lattice, double acoustic_scale) {
  const uint32_t n = lattice.n_states();
  BestCosts costs;
  costs.from_start.assign(n, kNoEnd.graph);
  costs.to_end.resize(n);
  if (n > 0) costs.from_start[0] = 0;
  for (uint32_t s = 0; s < n; ++s) {
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      double &next = costs.from_start[arc.next_state];
      next = std::min(next, costs.from_start[s] + arc.cost.total(acoustic_scale));
    }
  }
  for (uint32_t s = n; s-- > 0;) {
    costs.to_end[s] = lattice.ends[s].cost.total(acoustic_scale);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      costs.to_end[s] = std::min(costs.to_end[s], arc.cost.total(acoustic_scale) + costs.to_end[arc.next_state]);
    }
  }
  return costs;
}

CompactLattice prune(const CompactLattice &lattice, double acoustic_scale, double lattice_beam) {
  const BestCosts costs = best_costs(lattice, acoustic_scale);
  const double limit = costs.best() + lattice_beam + 1e-9 * (1 + std::fabs(costs.best()));
  const auto stays = [limit](double cost) { return std::isfinite(cost) && cost <= limit; };

  std::vector<uint32_t> numbers(lattice.n_states());
  uint32_t n_kept = 0;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    numbers[s] = n_kept;
    n_kept += stays(costs.from_start[s] + costs.to_end[s]);
  }
  CompactLattice result;
  result.arcs.reserve(lattice.arcs.size());
  result.transition_ids.reserve(lattice.transition_ids.size());
  const auto copy_ids = [&](Alignment *alignment) {
    const uint32_t *ids = lattice.begin(*alignment);
    alignment->begin = result.transition_ids.size();
    result.transition_ids.insert(result.transition_ids.end(), ids, ids + alignment->size);
  };
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    const double before = costs.from_start[s];
    if (!stays(before + costs.to_end[s])) continue;
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      CompactArc arc = lattice.arcs[a];
      if (!stays(before + arc.cost.total(acoustic_scale) + costs.to_end[arc.next_state])) continue;
      copy_ids(&arc.alignment);
      arc.next_state = numbers[arc.next_state];
      result.arcs.push_back(arc);
    }
    CompactLattice::End end;
    if (stays(before + lattice.ends[s].cost.total(acoustic_scale))) {
      end = lattice.ends[s];
      copy_ids(&end.alignment);
    }
    result.arc_begin.push_back(result.arcs.size());
    result.frames.push_back(lattice.frames[s]);
    result.ends.push_back(end);
  }
  return result;
}

}  // namespace asr
