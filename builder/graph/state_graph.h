// SPDX-License-Identifier: Apache-2.0
// StateGraph is the graph under construction: states and arcs with transition-ids, in any order, before packing to GraphData.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "builder/graph/grammar.h"
#include "builder/graph/hash.h"
#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/graph/growing_array.h"
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

// State s has arcs[begin[s] .. begin[s] + n_arcs[s]); arcs in gaps belong to no state.
struct StateGraph {
  uint32_t start = 0;
  GrowingArray<uint32_t> begin, n_arcs;
  GrowingArray<StateArc> arcs;
  GrowingArray<float> final_costs;

  uint32_t n_states() const { return static_cast<uint32_t>(final_costs.size()); }
  uint32_t add_state() {
    begin.push_back(0);
    n_arcs.push_back(0);
    final_costs.push_back(kNotFinal);
    return n_states() - 1;
  }
  void set_arcs(uint32_t state, const std::vector<StateArc> &of_state) {
    if (arcs.size() + of_state.size() >= kMaxGraphArcs) {
      fail(ASR_UNSUPPORTED, "the graph has more than 2^32 arcs; prune the language model more");
    }
    begin[state] = static_cast<uint32_t>(arcs.size());
    n_arcs[state] = static_cast<uint32_t>(of_state.size());
    arcs.append(of_state.data(), of_state.size());
  }
  // Replaces the arcs of a state that has some, in place if they fit.
  void replace_arcs(uint32_t state, const std::vector<StateArc> &of_state) {
    if (of_state.size() > n_arcs[state]) return set_arcs(state, of_state);
    std::copy(of_state.begin(), of_state.end(), arcs.begin() + begin[state]);
    n_arcs[state] = static_cast<uint32_t>(of_state.size());
  }
  const StateArc *first_arc(uint32_t state) const { return arcs.data() + begin[state]; }
  const StateArc *last_arc(uint32_t state) const { return first_arc(state) + n_arcs[state]; }
};

// TransitionTable numbers transitions from 1 in the order of first use.
class TransitionTable {
 public:
  TransitionTable() : transitions_(1, Transition{0, 0, 0, false, 0}) {}
  uint32_t id(const Transition &transition);
  const std::vector<Transition> &transitions() const { return transitions_; }

 private:
  std::vector<Transition> transitions_;
  FlatMap<uint32_t> id_of_;
};

}  // namespace asr
