// SPDX-License-Identifier: Apache-2.0
// The graph while it is being built: states and arcs with transition-ids, in any order, before it is packed as GraphData.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/graph/build/grammar.h"
#include "core/model/hmm_set.h"

namespace asr {

struct StateArc {
  uint32_t transition_id;  // 0: epsilon
  uint32_t word;           // 0: none
  float cost;
  uint32_t next;

  bool operator==(const StateArc &other) const {
    return transition_id == other.transition_id && word == other.word && cost == other.cost && next == other.next;
  }
};

// State s has arcs[begin[s] .. begin[s] + n_arcs[s]).
struct StateGraph {
  uint32_t start = 0;
  std::vector<uint64_t> begin;
  std::vector<uint32_t> n_arcs;
  std::vector<StateArc> arcs;
  std::vector<float> final_costs;

  uint32_t n_states() const { return static_cast<uint32_t>(final_costs.size()); }
  uint32_t add_state() {
    begin.push_back(0);
    n_arcs.push_back(0);
    final_costs.push_back(kNotFinal);
    return n_states() - 1;
  }
  void set_arcs(uint32_t state, const std::vector<StateArc> &of_state) {
    begin[state] = arcs.size();
    n_arcs[state] = static_cast<uint32_t>(of_state.size());
    arcs.insert(arcs.end(), of_state.begin(), of_state.end());
  }
  const StateArc *first_arc(uint32_t state) const { return arcs.data() + begin[state]; }
  const StateArc *last_arc(uint32_t state) const { return first_arc(state) + n_arcs[state]; }
};

// Numbers transitions from 1 in the order they are first met.
class TransitionTable {
 public:
  TransitionTable() : transitions_(1, Transition{0, 0, 0, false, 0}) {}
  uint32_t id(const Transition &transition);
  const std::vector<Transition> &transitions() const { return transitions_; }

 private:
  std::vector<Transition> transitions_;
  std::unordered_map<uint64_t, uint32_t> id_of_;
};

}  // namespace asr
