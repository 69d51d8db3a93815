// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/hmm_states.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "builder/graph/lexical_graph.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr uint32_t kSelf = 0xffffffffu;  // represents the state itself while its arcs are compared

// Counts the paths through a topology whose arcs only lead forward; kMaxHmmPaths + 1 if there are more.
uint32_t count_paths(uint32_t n_states, const std::vector<std::vector<TopologyArc>> &leaving,
                     const std::vector<TopologyArc> &entering) {
  std::vector<uint32_t> n_paths(n_states + size_t{1}, 1);
  const auto count = [&](const std::vector<TopologyArc> &arcs) {
    uint32_t n = 0;
    for (const TopologyArc &arc : arcs) n = std::min(n + n_paths[arc.to], kMaxHmmPaths + 1);
    return n;
  };
  for (uint32_t state = n_states; state-- > 0;) n_paths[state] = count(leaving[state]);
  return count(entering);
}

}  // namespace

// The key has enough bits: RightContexts bounds the phones, and no model comes near the other bounds.
uint32_t TransitionTable::id(const Transition &transition) {
  const uint64_t key = uint64_t(transition.phone) << 53 | uint64_t(transition.position & 7) << 50 |
                       uint64_t(transition.hmm_state) << 33 | uint64_t(transition.self_loop) << 32 | transition.pdf;
  const auto [id, added] = id_of_.try_emplace(key);
  if (added) {
    *id = static_cast<uint32_t>(transitions_.size());
    transitions_.push_back(transition);
  }
  return *id;
}

HmmStates::HmmStates(const HmmSet &set, const TransitionScales &scales, StateGraph *graph) : set_(set), graph_(graph) {
  for (const Topology &topology : set.topologies) topologies_.push_back(scale(topology, scales));
}

HmmStates::ScaledTopology HmmStates::scale(const Topology &topology, const TransitionScales &scales) {
  const uint32_t n = topology.n_states;
  ScaledTopology scaled{n, true, std::vector<std::vector<TopologyArc>>(n), {}, std::vector<float>(n, kNotFinal)};
  std::vector<double> leave(n, 0.0);  // -ln of the probability of leaving
  for (const TopologyArc &arc : topology.arcs) {
    if (arc.from != arc.to) continue;
    scaled.self_loop[arc.from] = on_cost_grid(scales.self_loop * arc.cost);
    leave[arc.from] = -std::log(std::max(1 - std::exp(-double(arc.cost)), 1e-10));
  }
  std::vector<float> least(n + 1, kNotFinal);
  for (const TopologyArc &arc : topology.arcs) {
    if (arc.from == kEntry) {
      scaled.entering.push_back({arc.from, arc.to, on_cost_grid(scales.transition * arc.cost)});
    } else if (arc.from != arc.to) {
      const float cost = on_cost_grid(scales.transition * (arc.cost - leave[arc.from]) + scales.self_loop * leave[arc.from]);
      scaled.leaving[arc.from].push_back({arc.from, arc.to, cost});
      least[arc.from] = std::min(least[arc.from], cost);
      scaled.left_to_right &= arc.from < arc.to;
    }
  }
  // Sharing states follows every path through the model.
  scaled.left_to_right &= !scaled.left_to_right || count_paths(n, scaled.leaving, scaled.entering) <= kMaxHmmPaths;
  least[n] = 0;
  for (TopologyArc &arc : scaled.entering) arc.cost += least[arc.to];
  for (uint32_t state = 0; state < n; ++state) {
    for (TopologyArc &arc : scaled.leaving[state]) arc.cost += least[arc.to] - least[state];
  }
  return scaled;
}

uint32_t HmmStates::transition_id(size_t branch, uint32_t hmm_state, bool self_loop) {
  const uint32_t pdf = set_.hmms[branches_[branch].hmm].pdfs[hmm_state];
  return table_.id({phone_, position_, static_cast<uint16_t>(hmm_state), self_loop, pdf});
}

// Returns true if two branches have one topology and the same pdfs in states 0 .. hmm_state.
bool HmmStates::same_beginning(size_t a, size_t b, uint32_t hmm_state) const {
  const Hmm &first = set_.hmms[branches_[a].hmm], &second = set_.hmms[branches_[b].hmm];
  return first.topology == second.topology &&
         std::equal(first.pdfs.begin(), first.pdfs.begin() + hmm_state + 1, second.pdfs.begin());
}

float HmmStates::min_cost(size_t begin, size_t end) const {
  float least = branches_[begin].cost;
  for (size_t i = begin + 1; i < end; ++i) least = std::min(least, branches_[i].cost);
  return least;
}

// Branches [begin, end) share their states so far, and `paid` of their costs lies before this point. Appends the arcs of their
// topology to the next states.
void HmmStates::add_arcs(const std::vector<TopologyArc> &from, size_t begin, size_t end, float paid,
                         std::vector<StateArc> *arcs) {
  const uint32_t n_states = topologies_[set_.hmms[branches_[begin].hmm].topology].n_states;
  for (const TopologyArc &arc : from) {
    for (size_t group = begin; group < end;) {
      size_t group_end = group + 1;
      if (arc.to == n_states) {
        arcs->push_back({0, 0, arc.cost + branches_[group].cost - paid, branches_[group].exit});
      } else {
        while (group_end < end && same_beginning(group, group_end, arc.to)) ++group_end;
        const uint32_t next = shared_state(group, group_end, arc.to);
        const float cost = arc.cost + min_cost(group, group_end) - paid;
        arcs->push_back({transition_id(group, arc.to, false), 0, cost, next});
      }
      group = group_end;
    }
  }
}

// Returns the graph state that is state hmm_state of branches [begin, end).
uint32_t HmmStates::shared_state(size_t begin, size_t end, uint32_t hmm_state) {
  const ScaledTopology &topology = topologies_[set_.hmms[branches_[begin].hmm].topology];
  std::vector<StateArc> arcs;
  if (topology.self_loop[hmm_state] != kNotFinal) {
    arcs.push_back({transition_id(begin, hmm_state, true), 0, topology.self_loop[hmm_state], kSelf});
  }
  add_arcs(topology.leaving[hmm_state], begin, end, min_cost(begin, end), &arcs);
  uint64_t hash = transition_id(begin, hmm_state, false);
  for (const StateArc &arc : arcs) hash = mix_hash(hash, arc.transition_id, float_bits(arc.cost), arc.next);
  const uint32_t found = states_by_hash_.find(hash, [&](uint32_t state) {
    const auto same = [&](const StateArc &a, const StateArc &b) {  // b is an arc of the graph
      return a.transition_id == b.transition_id && a.cost == b.cost && (a.next == kSelf ? state : a.next) == b.next;
    };
    return graph_->n_arcs[state] == arcs.size() && std::equal(arcs.begin(), arcs.end(), graph_->first_arc(state), same);
  });
  if (found != HashIndex::kNone) return found;
  const uint32_t state = graph_->add_state();
  for (StateArc &arc : arcs) {
    if (arc.next == kSelf) arc.next = state;
  }
  graph_->set_arcs(state, arcs);
  states_by_hash_.add(hash, state);
  return state;
}

// Adds a model with backward arcs, or with very many paths, without sharing: otherwise a path could change from one model to
// another.
void HmmStates::add_whole(size_t branch, std::vector<StateArc> *entry) {
  const ScaledTopology &topology = topologies_[set_.hmms[branches_[branch].hmm].topology];
  const uint32_t first = graph_->n_states();
  for (uint32_t state = 0; state < topology.n_states; ++state) graph_->add_state();
  const auto to_arc = [&](const TopologyArc &arc) {
    if (arc.to == topology.n_states) return StateArc{0, 0, arc.cost, branches_[branch].exit};
    return StateArc{transition_id(branch, arc.to, false), 0, arc.cost, first + arc.to};
  };
  for (uint32_t state = 0; state < topology.n_states; ++state) {
    std::vector<StateArc> arcs;
    if (topology.self_loop[state] != kNotFinal) {
      arcs.push_back({transition_id(branch, state, true), 0, topology.self_loop[state], first + state});
    }
    for (const TopologyArc &arc : topology.leaving[state]) arcs.push_back(to_arc(arc));
    graph_->set_arcs(first + state, arcs);
  }
  for (const TopologyArc &arc : topology.entering) {
    entry->push_back(to_arc(arc));
    entry->back().cost += branches_[branch].cost;
  }
}

std::vector<StateArc> HmmStates::enter(uint32_t phone, uint8_t position, std::vector<HmmBranch> branches) {
  phone_ = phone;
  position_ = position;
  branches_ = std::move(branches);
  std::sort(branches_.begin(), branches_.end(), [&](const HmmBranch &a, const HmmBranch &b) {
    const Hmm &first = set_.hmms[a.hmm], &second = set_.hmms[b.hmm];
    return std::tie(first.topology, first.pdfs, a.exit) < std::tie(second.topology, second.pdfs, b.exit);
  });
  std::vector<StateArc> entry;
  for (size_t begin = 0; begin < branches_.size();) {
    const uint32_t topology = set_.hmms[branches_[begin].hmm].topology;
    size_t end = begin;
    while (end < branches_.size() && set_.hmms[branches_[end].hmm].topology == topology) ++end;
    if (topologies_[topology].left_to_right) {
      add_arcs(topologies_[topology].entering, begin, end, 0, &entry);
    } else {
      for (size_t branch = begin; branch < end; ++branch) add_whole(branch, &entry);
    }
    begin = end;
  }
  return entry;
}

}  // namespace asr
