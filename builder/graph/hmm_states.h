// SPDX-License-Identifier: Apache-2.0
// HmmStates is H: it expands HMMs to graph states, one per emitting state. The arcs that enter a state and its self-loop carry
// its pdf. HMMs that begin with the same pdfs share those states, and equal states with the same successors are merged.
#pragma once

#include <vector>

#include "builder/graph/hash.h"
#include "builder/graph/state_graph.h"
#include "core/model/hmm_set.h"

namespace asr {

// Costs of topology arcs: self_loop_scale * -ln of staying or of leaving, transition_scale * -ln of the target, given leaving.
struct TransitionScales {
  double transition = 1.0;
  double self_loop = 0.1;

  bool operator==(const TransitionScales &other) const {
    return transition == other.transition && self_loop == other.self_loop;
  }
};

// One of a phone's possible HMMs, by right context, and the state after its last arc. Its paths cost `cost` more.
struct HmmBranch {
  uint32_t hmm;
  uint32_t exit;
  float cost;
};

class HmmStates {
 public:
  HmmStates(const HmmSet &set, const TransitionScales &scales, StateGraph *graph);

  // Adds the states of the branches of one phone and returns the arcs that enter them, without words. A model that can be
  // skipped without a frame gives epsilon arcs to its exit. Costs of branches are placed at the earliest point where the branch
  // is determined.
  std::vector<StateArc> enter(uint32_t phone, uint8_t position, std::vector<HmmBranch> branches);
  const std::vector<Transition> &transitions() const { return table_.transitions(); }

 private:
  // A topology with scaled costs. The cost common to all ways out of a state has moved to the arcs that enter it.
  struct ScaledTopology {
    uint32_t n_states;
    bool left_to_right;
    std::vector<std::vector<TopologyArc>> leaving;  // [n_states], without self-loops
    std::vector<TopologyArc> entering;
    std::vector<float> self_loop;  // [n_states], kNotFinal: none
  };
  const HmmSet &set_;
  StateGraph *graph_;
  std::vector<ScaledTopology> topologies_;
  TransitionTable table_;
  HashIndex states_by_hash_;

  // State of the current call: branches sorted by topology and pdfs.
  uint32_t phone_ = 0;
  uint8_t position_ = 0;
  std::vector<HmmBranch> branches_;

  static ScaledTopology scale(const Topology &topology, const TransitionScales &scales);
  uint32_t transition_id(size_t branch, uint32_t hmm_state, bool self_loop);
  bool same_beginning(size_t a, size_t b, uint32_t hmm_state) const;
  float min_cost(size_t begin, size_t end) const;
  void add_arcs(const std::vector<TopologyArc> &from, size_t begin, size_t end, float paid, std::vector<StateArc> *arcs);
  uint32_t shared_state(size_t begin, size_t end, uint32_t hmm_state);
  void add_whole(size_t branch, std::vector<StateArc> *entry);
};

}  // namespace asr
