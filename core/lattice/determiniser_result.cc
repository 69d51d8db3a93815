// SPDX-License-Identifier: Apache-2.0
// Assembles the determiniser's result. If work or memory runs out, it falls back to the best path alone, read off the lattice.
#include <algorithm>
#include <cmath>

#include "core/lattice/determiniser.h"
#include "core/lattice/prune.h"

namespace asr {

Determiniser::Start Determiniser::start() const {
  Start start{sizes(), lists_.elements.size(), lists_.pool.size(), waiting_, {}};
  for (const uint32_t number : waiting_) start.waiting_subsets.push_back(subsets_[number]);
  return start;
}

void Determiniser::return_to(const Start &start) {
  const auto cut = [](auto &blocks, size_t n) { blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(n), blocks.end()); };
  cut(subsets_, start.sizes.n_subsets);
  cut(states_, start.sizes.n_states);
  cut(arcs_, start.sizes.n_arcs);
  cut(ids_, start.sizes.n_ids);
  lists_.elements.resize(start.n_elements);
  lists_.pool.resize(start.n_pool);
  known_subsets_.clear();
  known_states_.clear();
  n_assembled_ids_ = start.sizes.n_assembled_ids;
  waiting_ = start.waiting;
  for (size_t i = 0; i < waiting_.size(); ++i) {
    subsets_[waiting_[i]] = start.waiting_subsets[i];
    const Subset &subset = subsets_[waiting_[i]];
    if (subset.passed_ids.empty()) lists_.find_or_add(known_subsets_, subset.list, waiting_[i]);
  }
}

void Determiniser::keep_best_path(const PreparedLattice &lattice, uint32_t open) {
  lattice_ = &lattice;
  follow_best_path(start(), open);
}

// Returns the best path from one of the waiting subsets to an end or, if the lattice goes on, to an open state. The
// first of equally good open states counts. Paths between open states belong to the next piece, so the others may only
// seem as good.
Determiniser::BestPath Determiniser::find_best_path(uint32_t open) const {
  const Lattice &lattice = lattice_->lattice;
  struct Way {
    double cost = kNoEnd.graph;
    uint32_t from = kNone;  // kNone: the path begins with an element
    uint64_t arc = 0;       // arc from there, or the element
    uint32_t subset = 0;    // subset of the element
  };
  std::vector<Way> ways(lattice.n_states());
  for (const uint32_t number : waiting_) {
    const Subset &subset = subsets_[number];
    for (size_t e = subset.list.begin; e < subset.list.end; ++e) {
      const double cost = total(subset.cost + lists_.elements[e].cost);
      Way &way = ways[lists_.elements[e].state];
      if (cost < way.cost) way = {cost, kNone, e, number};
    }
  }
  double least = kNoEnd.graph;
  uint32_t goal = kNone;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    const double cost = ways[s].cost;
    const double through = cost + lattice.final_costs[s].total(options_.acoustic_scale);
    const double slack = s >= open ? 1e-9 * (1 + std::fabs(through)) : 0;
    if ((s >= open || open == lattice.n_states()) && through < least - slack) std::tie(least, goal) = std::tie(through, s);
    if (!std::isfinite(cost) || s >= open) continue;
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const double next = cost + total(lattice.arcs[a].cost);
      if (next < ways[lattice.arcs[a].next_state].cost) ways[lattice.arcs[a].next_state] = {next, s, a, 0};
    }
  }
  BestPath path;
  if (goal == kNone) return path;
  uint32_t s = goal;
  for (; ways[s].from != kNone; s = ways[s].from) path.arcs.push_back(ways[s].arc);
  std::reverse(path.arcs.begin(), path.arcs.end());
  path.subset = ways[s].subset;
  path.element = ways[s].arc;
  return path;
}

// Makes the best path the only one. Each of its states leads on at once, and no common part is left to move to earlier arcs.
void Determiniser::follow_best_path(const Start &start, uint32_t open) {
  return_to(start);
  beam_ = 0;
  best_only_ = true;
  const BestPath path = find_best_path(open);
  waiting_.clear();
  if (path.subset == kNone) return;
  const Lattice &lattice = lattice_->lattice;
  const SubsetElement element = lists_.elements[path.element];
  const auto pool = lists_.pool.begin() + static_cast<std::ptrdiff_t>(element.ids.begin);
  std::vector<uint32_t> ids(pool, pool + element.ids.size);
  LatticeCost cost = element.cost;
  uint32_t number = path.subset, state = element.state, begun_in = state;
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
  for (const uint64_t a : path.arcs) {
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
  if (state >= open) return wait_at(number, state, cost, ids);
  add_state();
  states_.back().end = {cost + lattice.final_costs[state], take_ids()};
  n_assembled_ids_ += states_.back().end.alignment.size + (number == 0 ? subsets_[0].n_passed_ids : 0);
}

// Leaves the subset waiting with one element.
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

// Returns the states in an order in which each comes after all states that lead to it. A word leads to higher states of the
// lattice, so this is the order of their lowest lattice states.
std::vector<uint32_t> Determiniser::states_in_order() const {
  std::vector<uint32_t> order(states_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [this](uint32_t a, uint32_t b) { return states_[a].first_state < states_[b].first_state; });
  return order;
}

// Collects the states and the arcs between them.
CompactLattice Determiniser::assemble() const {
  const std::vector<uint32_t> order = states_in_order();
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
  const auto append_passed = [&](const Subset &subset) {
    for (const Alignment &ids : subset.passed_ids) append_ids(ids);
  };
  const Subset none{}, &start = subsets_[0];  // no arc leads to the start, so what it has passed comes after it
  const auto size_from = [&lattice](uint64_t begin) { return static_cast<uint32_t>(lattice.transition_ids.size() - begin); };
  for (const uint32_t i : order) {
    const ResultState &state = states_[i];
    const Subset &own = i == start.result_state ? start : none;
    for (size_t a = state.arcs_begin; a < state.arcs_end; ++a) {
      const CompactArc &arc = arcs_[a];
      const Subset &next = subsets_[arc.next_state];
      if (next.result_state == kNone) continue;
      const uint64_t begin = lattice.transition_ids.size();
      append_passed(own);
      append_ids(arc.alignment);
      append_passed(next);
      append_ids(next.lead_ids);
      lattice.arcs.push_back({numbers[next.result_state],
                              arc.word,
                              own.passed_cost + arc.cost + next.passed_cost + next.lead_cost,
                              {begin, size_from(begin)}});
    }
    lattice.arc_begin.push_back(lattice.arcs.size());
    lattice.frames.push_back(state.frame);
    const uint64_t begin = lattice.transition_ids.size();
    if (is_end(state.end.cost)) append_passed(own);
    append_ids(state.end.alignment);
    const LatticeCost end = is_end(state.end.cost) ? own.passed_cost + state.end.cost : kNoEnd;
    lattice.ends.push_back({end, {begin, size_from(begin)}});
  }
  return lattice;
}

}  // namespace asr
