// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/posteriors.h"

#include <cmath>
#include <limits>

namespace asr {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

// ln(e^a + e^b)
double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kLogZero ? a : a + std::log1p(std::exp(b - a));
}

// Logs of sums over partial paths: forward from the start to a state, backward from a state to the ends.
std::vector<double> forward_sums(const CompactLattice &lattice, double acoustic_scale) {
  std::vector<double> sums(lattice.n_states(), kLogZero);
  if (!sums.empty()) sums[0] = 0;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    if (sums[s] == kLogZero) continue;
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      sums[arc.next_state] = log_add(sums[arc.next_state], sums[s] - arc.cost.total(acoustic_scale));
    }
  }
  return sums;
}

std::vector<double> backward_sums(const CompactLattice &lattice, double acoustic_scale) {
  std::vector<double> sums(lattice.n_states(), kLogZero);
  for (uint32_t s = lattice.n_states(); s-- > 0;) {
    if (is_end(lattice.ends[s].cost)) sums[s] = -lattice.ends[s].cost.total(acoustic_scale);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      sums[s] = log_add(sums[s], sums[arc.next_state] - arc.cost.total(acoustic_scale));
    }
  }
  return sums;
}

}  // namespace

LatticePosteriors lattice_posteriors(const CompactLattice &lattice, double acoustic_scale) {
  const uint32_t n_states = lattice.n_states();
  LatticePosteriors result;
  result.arcs.assign(lattice.arcs.size(), 0);
  result.states.assign(n_states, 0);
  result.ends.assign(n_states, 0);
  const std::vector<double> forward = forward_sums(lattice, acoustic_scale);
  const std::vector<double> backward = backward_sums(lattice, acoustic_scale);
  result.log_sum = n_states == 0 ? kLogZero : backward[0];
  if (result.log_sum == kLogZero) return result;

  const double log_sum = result.log_sum;
  for (uint32_t s = 0; s < n_states; ++s) {
    result.states[s] = std::exp(forward[s] + backward[s] - log_sum);
    if (is_end(lattice.ends[s].cost)) {
      result.ends[s] = std::exp(forward[s] - lattice.ends[s].cost.total(acoustic_scale) - log_sum);
    }
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      result.arcs[a] = std::exp(forward[s] - arc.cost.total(acoustic_scale) + backward[arc.next_state] - log_sum);
    }
  }
  return result;
}

}  // namespace asr
