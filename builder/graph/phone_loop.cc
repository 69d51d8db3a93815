// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/phone_loop.h"

#include <cmath>
#include <numeric>

#include "builder/graph/compact.h"

namespace asr {

GraphData make_phone_loop(const HmmSet &set, const TransitionScales &scales) {
  StateGraph graph;
  HmmStates hmms(set, scales, &graph);
  const uint32_t hub = graph.add_state();
  const auto n_phones = static_cast<uint32_t>(set.phones.size());
  const float cost = on_cost_grid(std::log(static_cast<double>(n_phones)));
  std::vector<StateArc> arcs;
  for (uint32_t phone = 0; phone < n_phones; ++phone) {
    for (StateArc arc : hmms.enter(phone, kAnyPosition, {{set.phones[phone].hmm, hub, cost}})) {
      if (arc.transition_id == 0) continue;  // arc of a model skipped without a frame: the loop omits it
      arc.word = phone + 1;
      arcs.push_back(arc);
    }
  }
  graph.set_arcs(hub, arcs);
  graph.start = hub;
  graph.final_costs[hub] = 0;
  std::vector<uint32_t> states(graph.n_states());
  std::iota(states.begin(), states.end(), 0u);
  return pack(std::move(graph), std::move(states), hmms.transitions(), set.n_pdfs, n_phones + 1);
}

}  // namespace asr
