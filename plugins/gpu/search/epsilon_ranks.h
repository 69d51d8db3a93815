// SPDX-License-Identifier: Apache-2.0
// The epsilon rank of a state counts the arcs of the longest path of epsilon arcs that ends in it ("The lattice" in
// docs/search.md). The graphs of back ends that make lattices use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace asr {

// Returns the ranks of all states; empty if epsilon arcs make a cycle. Graph has n_states(), n_emitting_arcs(), n_arcs(),
// next_state(arc), epsilon_begin(state) and epsilon_end(state). States are visited in topological order: a state is next when
// all arcs into it have been followed.
template <typename Graph>
std::vector<uint32_t> epsilon_ranks(const Graph &graph) {
  std::vector<uint32_t> n_arcs_into(graph.n_states()), ranks(graph.n_states()), next;
  for (size_t a = graph.n_emitting_arcs(); a < graph.n_arcs(); ++a) ++n_arcs_into[graph.next_state(a)];
  for (uint32_t s = 0; s < graph.n_states(); ++s) {
    if (n_arcs_into[s] == 0 && graph.epsilon_begin(s) != graph.epsilon_end(s)) next.push_back(s);
  }
  size_t n_followed = 0;
  while (!next.empty()) {
    const uint32_t state = next.back();
    next.pop_back();
    for (size_t a = graph.epsilon_begin(state); a < graph.epsilon_end(state); ++a) {
      const uint32_t to = graph.next_state(a);
      ranks[to] = std::max(ranks[to], ranks[state] + 1);
      if (--n_arcs_into[to] == 0) next.push_back(to);
      ++n_followed;
    }
  }
  if (n_followed != graph.n_arcs() - graph.n_emitting_arcs()) ranks.clear();
  return ranks;
}

}  // namespace asr
