// SPDX-License-Identifier: Apache-2.0
// Small random lattices that keep the rules of lattice.h.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "core/lattice/lattice.h"

namespace asr::test {

struct StateLatticeShape {
  uint32_t n_frames = 5, states_per_frame = 2, arcs_per_state = 2;
  uint32_t n_words = 3, n_transition_ids = 3;
  double word_share = 0.4, epsilon_share = 0.2, end_share = 0.1;
  bool ties = false;  // true: costs come from a few values
};

inline Lattice random_state_lattice(const StateLatticeShape &shape, std::mt19937 &random) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const auto chance = [&](double p) { return random() % 10000 < p * 10000; };
  const auto cost = [&](double low, double high) {
    if (shape.ties) return low + below(3) * (high - low) / 2;
    return double{static_cast<float>(low + (high - low) * random() / 4294967296.0)};
  };
  Lattice lattice;
  std::vector<uint32_t> first_of_frame;
  for (uint32_t t = 0; t <= shape.n_frames; ++t) {
    first_of_frame.push_back(lattice.n_states());
    const uint32_t n = t == 0 ? 1 : 1 + below(shape.states_per_frame);
    lattice.frames.insert(lattice.frames.end(), n, t);
  }
  first_of_frame.push_back(lattice.n_states());
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    const uint32_t t = lattice.frames[s];
    const uint32_t in_frame = first_of_frame[t + 1] - s - 1;
    for (uint32_t k = below(shape.arcs_per_state + 1); k > 0 || (lattice.arcs.size() == lattice.arc_begin[s]); k -= k > 0) {
      const bool epsilon = in_frame > 0 && chance(shape.epsilon_share);
      if (!epsilon && t == shape.n_frames) break;
      LatticeArc arc;
      const uint32_t n_next = epsilon ? in_frame : first_of_frame[t + 2] - first_of_frame[t + 1];
      arc.next_state = (epsilon ? s + 1 : first_of_frame[t + 1]) + below(n_next);
      arc.transition_id = epsilon ? 0 : 1 + below(shape.n_transition_ids);
      arc.word = chance(shape.word_share) ? 1 + below(shape.n_words) : 0;
      arc.cost = {cost(-1, 3), epsilon ? 0 : cost(-10, 30)};
      lattice.arcs.push_back(arc);
    }
    lattice.arc_begin.push_back(lattice.arcs.size());
    const bool ends = t == shape.n_frames || chance(shape.end_share);
    lattice.final_costs.push_back(ends ? LatticeCost{cost(0, 2), 0} : kNoEnd);
  }
  return lattice;
}

}  // namespace asr::test
