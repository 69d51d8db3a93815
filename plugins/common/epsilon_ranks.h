// SPDX-License-Identifier: Apache-2.0
// The epsilon ranks of a graph's states ("The lattice" in docs/search.md): the number of arcs of the longest path of epsilon
// arcs that ends in a state. Used by the graphs of back ends that make lattices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace asr {

// Empty if epsilon arcs make a cycle. Graph: n_states(), n_emitting_arcs(), n_arcs(), next_state(arc), and
// epsilon_begin(state), epsilon_end(state). States are visited in an order in which arcs lead on: a state is next when the arcs
// into it have been followed.
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
