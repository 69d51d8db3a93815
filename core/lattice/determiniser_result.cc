// SPDX-License-Identifier: Apache-2.0
// The determiniser's result, and its way out when work or memory runs out: the best path alone, read off the lattice.
#include <algorithm>

#include "core/lattice/determiniser.h"
#include "core/lattice/prune.h"

namespace asr {

Determiniser::Start Determiniser::start() const {
  Start start{subsets_.size(),        states_.size(),     arcs_.size(),     ids_.size(),
              lists_.elements.size(), lists_.pool.size(), n_assembled_ids_, waiting_};
  double least = kNoEnd.graph;
  for (const uint32_t number : waiting_) {
    const Subset &subset = subsets_[number];
    for (size_t e = subset.list.begin; e < subset.list.end; ++e) {
      const double cost = estimate(subset, lists_.elements[e]);
      if (!(cost < least)) continue;
      least = cost;
      start.best = number;
      start.best_subset = subset;
    }
  }
  return start;
}

void Determiniser::return_to(const Start &start) {
  const auto cut = [](auto &blocks, size_t n) { blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(n), blocks.end()); };
  cut(subsets_, start.n_subsets);
  cut(states_, start.n_states);
  cut(arcs_, start.n_arcs);
  cut(ids_, start.n_ids);
  lists_.elements.resize(start.n_elements);
  lists_.pool.resize(start.n_pool);
  known_subsets_.clear();
  known_states_.clear();
  n_assembled_ids_ = start.n_assembled_ids;
  for (const uint32_t number : start.waiting) subsets_[number].result_state = kNone;
  if (start.best != kNone) subsets_[start.best] = start.best_subset;
}

void Determiniser::keep_best_path(const PreparedLattice &lattice, uint32_t open) {
  lattice_ = &lattice;
  follow_best_path(start(), open);
}

// The first arc of the best path from a state to an end; n_arcs where the best is to end here.
uint64_t Determiniser::best_way(uint32_t state) const {
  const Lattice &lattice = lattice_->lattice;
  const auto key = [this](const LatticeCost &cost) { return std::tuple(total(cost), cost.graph); };
  uint64_t best = lattice.arcs.size();
  auto least = key(lattice.final_costs[state]);
  for (uint64_t a = lattice.arc_begin[state]; a < lattice.arc_begin[state + 1]; ++a) {
    const auto cost = key(lattice.arcs[a].cost + lattice_->to_end[lattice.arcs[a].next_state]);
    if (cost < least) std::tie(least, best) = std::tie(cost, a);
  }
  return best;
}

// Makes the best path the only one, from the subset of `start` that it goes through. Every step is one of the best path's
// arcs, so it takes no search. Each of its states leads on at once, with nothing in common left to the arcs before.
void Determiniser::follow_best_path(const Start &start, uint32_t open) {
  return_to(start);
  beam_ = 0;
  best_only_ = true;
  waiting_.clear();
  if (start.best == kNone) return;
  uint32_t number = start.best;
  const Subset &first = subsets_[number];
  const auto cheaper = [&](const SubsetElement &a, const SubsetElement &b) { return estimate(first, a) < estimate(first, b); };
  const auto elements = lists_.elements.begin();
  const SubsetElement element = *std::min_element(elements + static_cast<std::ptrdiff_t>(first.list.begin),
                                                  elements + static_cast<std::ptrdiff_t>(first.list.end), cheaper);
  const auto pool = lists_.pool.begin() + static_cast<std::ptrdiff_t>(element.ids.begin);
  std::vector<uint32_t> ids(pool, pool + element.ids.size);
  LatticeCost cost = element.cost;
  const Lattice &lattice = lattice_->lattice;
  uint32_t state = element.state, begun_in = state;
  const auto take_ids = [&] {
    const Alignment taken = {ids_.size(), static_cast<uint32_t>(ids.size())};
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    ids.clear();
    return taken;
  };
  const auto add_state = [&] {
    subsets_[number].result_state = static_cast<uint32_t>(states_.size());
    const uint64_t place = number == 0 ? 0 : n_forgotten_ + begun_in;
    states_.push_back({place, subsets_[number].list.frame, arcs_.size(), arcs_.size(), {}});
  };
  while (state < open) {
    const uint64_t a = best_way(state);
    if (a == lattice.arcs.size()) {
      add_state();
      states_.back().end = {cost + lattice.final_costs[state], take_ids()};
      n_assembled_ids_ += states_.back().end.alignment.size;
      return;
    }
    const LatticeArc &arc = lattice.arcs[a];
    cost = cost + arc.cost;
    if (arc.transition_id != 0) ids.push_back(arc.transition_id);
    state = arc.next_state;
    if (arc.word == 0) continue;
    add_state();
    const Subset &before = subsets_[number];
    const Alignment taken = take_ids();
    const auto next = static_cast<uint32_t>(subsets_.size());
    subsets_.push_back({{0, 0, before.list.frame + taken.size}, before.cost + cost, kNone, 0, {}, {}});
    add_arc(next, arc.word, cost, taken);
    states_.back().arcs_end = arcs_.size();
    number = next;
    begun_in = state;
    cost = {};
  }
  wait_at(number, state, cost, ids);
}

// Leaves the subset waiting in one state.
void Determiniser::wait_at(uint32_t number, uint32_t state, const LatticeCost &cost, const std::vector<uint32_t> &ids) {
  List &list = subsets_[number].list;
  list.begin = lists_.elements.size();
  list.end = list.begin + 1;
  lists_.elements.push_back({state, {lists_.pool.size(), static_cast<uint32_t>(ids.size())}, cost});
  lists_.pool.insert(lists_.pool.end(), ids.begin(), ids.end());
  waiting_ = {number};
}

Determinised Determiniser::finish() {
  lists_ = {};
  known_subsets_ = {};
  known_states_ = {};
  if (states_.empty()) return {{}, beam_};
  const CompactLattice assembled = assemble();
  subsets_ = {};
  states_ = {};
  arcs_ = {};
  ids_ = {};
  return {prune(assembled, options_.acoustic_scale, beam_), beam_};
}

// The states and the arcs between them. A word leads to higher states of the lattice, so the lowest among the elements of a
// state puts it after all that lead to it.
CompactLattice Determiniser::assemble() const {
  std::vector<uint32_t> order(states_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [this](uint32_t a, uint32_t b) { return states_[a].first_state < states_[b].first_state; });
  std::vector<uint32_t> numbers(states_.size());
  for (uint32_t n = 0; n < order.size(); ++n) numbers[order[n]] = n;

  CompactLattice lattice;
  lattice.arc_begin.reserve(states_.size() + 1);
  lattice.frames.reserve(states_.size());
  lattice.ends.reserve(states_.size());
  lattice.arcs.reserve(arcs_.size());
  lattice.transition_ids.reserve(n_assembled_ids_);
  const auto append_ids = [&](const Alignment &ids) {
    const auto begin = ids_.begin() + static_cast<std::ptrdiff_t>(ids.begin);
    lattice.transition_ids.insert(lattice.transition_ids.end(), begin, begin + ids.size);
  };
  for (const uint32_t i : order) {
    const ResultState &state = states_[i];
    for (size_t a = state.arcs_begin; a < state.arcs_end; ++a) {
      const CompactArc &arc = arcs_[a];
      const Subset &next = subsets_[arc.next_state];
      if (next.result_state == kNone) continue;
      lattice.arcs.push_back({numbers[next.result_state],
                              arc.word,
                              arc.cost + next.lead_cost,
                              {lattice.transition_ids.size(), arc.alignment.size + next.lead_ids.size}});
      append_ids(arc.alignment);
      append_ids(next.lead_ids);
    }
    lattice.arc_begin.push_back(lattice.arcs.size());
    lattice.frames.push_back(state.frame);
    lattice.ends.push_back({state.end.cost, {lattice.transition_ids.size(), state.end.alignment.size}});
    append_ids(state.end.alignment);
  }
  return lattice;
}

}  // namespace asr
