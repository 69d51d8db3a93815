// SPDX-License-Identifier: Apache-2.0
// WordLattice contains all ways to cut a word into units of a model, as a lattice of n-gram histories. pronounce.cc uses it.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/g2p/g2p_model.h"

namespace asr {

// Nodes are in topological order, the first is the start and the last the end. An arc's share is the probability that a way
// through its node, drawn from the model, takes the arc. The shares of a node's arcs sum to one.
struct WordLattice {
  struct Arc {
    uint32_t unit, to;
    double share;
  };
  std::vector<uint32_t> first_arc;  // [n_nodes + 1]
  std::vector<Arc> arcs;

  uint32_t n_nodes() const { return static_cast<uint32_t>(first_arc.size()) - 1; }
};

// `letters` are the model's numbers. The result is empty (no arcs) if there is no way. Histories whose best way is more than
// `beam` nats worse than the best of the same letter are dropped.
WordLattice make_word_lattice(const G2pModel &model, const std::vector<uint16_t> &letters, double beam);

}  // namespace asr
