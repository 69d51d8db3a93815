// SPDX-License-Identifier: Apache-2.0
// Finds the widest beam for which work and memory suffice, and narrows what was found before with a wider one.
//
// A search that begins with a narrower beam needs less work and memory for every path that it shares with a wider one. So the
// widths that suffice are those up to a certain one, and a search with a wider beam never reaches more than that. It is found
// by bisection, which tries the same widths in the same order whatever beam was asked for: subsets that differ in a narrow beam
// may be equal in a wider one, so that a width just above one that does not suffice sometimes does. Results that earlier pieces
// left are counted as if they had been narrowed to the width that is tried, and are narrowed when it is known. So a beam that
// had to be given up takes no room from the narrower one.
#include <algorithm>
#include <cmath>

#include "core/lattice/determiniser.h"

namespace asr {
namespace {

template <typename T>
void cut(std::deque<T> &blocks, size_t n) {
  blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(n), blocks.end());
}

}  // namespace

// Repeats the search that reached a narrower beam than its own. Returns the widest beam reached, below 0 if none was, and
// leaves the result in this state.
double Determiniser::find_width(const Start &begun, double reached, const Room &room, const StopToken &stop) {
  constexpr double kMaxSteps = 1 << 20;  // a beam without end is tried up to this width
  double last = prepared_beam_, best = last;
  uint64_t sufficient = 0, insufficient = 1;
  while (static_cast<double>(insufficient) < std::min(prepared_beam_ / kWidthStep, kMaxSteps)) insufficient *= 2;
  while (insufficient > sufficient + 1) {
    const uint64_t middle = sufficient + (insufficient - sufficient) / 2;
    const double width = kWidthStep * static_cast<double>(middle);
    double now = width <= reached ? width : -1;
    if (width > reached && width < prepared_beam_) {
      last = width;
      return_to(begun);
      now = reach(width, room, stop);
      if (now > reached) {
        reached = now;
        best = width;
      }
    }
    (now >= width ? sufficient : insufficient) = middle;
  }
  if (last == best || reached < 0) return reached;
  return_to(begun);
  return reach(best, room, stop);
}

double Determiniser::cost_after(const CompactArc &arc, const ResultCosts &costs) const {
  const uint32_t state = subsets_[arc.next_state].result_state;
  return state == kNone ? costs.waiting_to_end[arc.next_state] : costs.to_end[state];
}

Determiniser::ResultCosts Determiniser::result_costs() const {
  ResultCosts costs;
  costs.waiting_to_end.assign(subsets_.size(), kNoEnd.graph);
  for (const uint32_t number : waiting_) {
    double &least = costs.waiting_to_end[number];
    for (size_t e = subsets_[number].list.begin; e < subsets_[number].list.end; ++e) {
      const SubsetElement &element = lists_.elements[e];
      least = std::min(least, total(element.cost + lattice_->to_end[element.state]));
    }
  }
  const std::vector<uint32_t> order = states_in_order();
  costs.from_start.assign(states_.size(), kNoEnd.graph);
  costs.to_end.assign(states_.size(), kNoEnd.graph);
  if (subsets_[0].result_state != kNone) costs.from_start[subsets_[0].result_state] = total(subsets_[0].passed_cost);
  for (const uint32_t s : order) {
    for (size_t a = states_[s].arcs_begin; a < states_[s].arcs_end; ++a) {
      const uint32_t next = subsets_[arcs_[a].next_state].result_state;
      if (next != kNone) costs.from_start[next] = std::min(costs.from_start[next], costs.from_start[s] + arc_cost(arcs_[a]));
    }
  }
  for (auto s = order.rbegin(); s != order.rend(); ++s) {
    double least = total(states_[*s].end.cost);
    for (size_t a = states_[*s].arcs_begin; a < states_[*s].arcs_end; ++a) {
      least = std::min(least, arc_cost(arcs_[a]) + cost_after(arcs_[a], costs));
    }
    costs.to_end[*s] = least;
  }
  return costs;
}

// Returns the sizes of what keep_within() would drop.
Determiniser::Dropped Determiniser::beyond(const ResultCosts &costs, double limit) const {
  Dropped dropped;
  for (size_t s = 0; s < states_.size(); ++s) {
    const bool stays = s == 0 || costs.from_start[s] + costs.to_end[s] <= limit;
    dropped.sizes.n_states += !stays;
    for (size_t a = states_[s].arcs_begin; a < states_[s].arcs_end; ++a) {
      const CompactArc &arc = arcs_[a];
      if (stays && costs.from_start[s] + arc_cost(arc) + cost_after(arc, costs) <= limit) continue;
      ++dropped.sizes.n_arcs;
      dropped.sizes.n_ids += arc.alignment.size;
      dropped.sizes.n_assembled_ids += n_assembled_ids(s, arc);
    }
    if (stays) continue;
    dropped.sizes.n_ids += states_[s].end.alignment.size;
    dropped.sizes.n_assembled_ids += states_[s].end.alignment.size;
  }
  for (size_t i = 0; i < subsets_.size(); ++i) {
    const uint32_t state = subsets_[i].result_state;
    const double cost =
        state == kNone ? total(subsets_[i].cost) + costs.waiting_to_end[i] : costs.from_start[state] + costs.to_end[state];
    if (state == 0 || cost <= limit) continue;
    ++dropped.sizes.n_subsets;
    dropped.sizes.n_ids += subsets_[i].lead_ids.size + subsets_[i].n_passed_ids;
  }
  for (const uint32_t number : waiting_) {
    const size_t n_before = dropped.n_elements;
    const List &list = subsets_[number].list;
    for (size_t e = list.begin; e < list.end; ++e) {
      if (estimate(subsets_[number], lists_.elements[e]) <= limit) continue;
      ++dropped.n_elements;
      dropped.n_ids += lists_.elements[e].ids.size;
    }
    dropped.n_waiting += dropped.n_elements - n_before == list.end - list.begin;
  }
  return dropped;
}

// Drops the elements of waiting lists that are on no path within the limit. A list without any other keeps them all.
void Determiniser::keep_waiting_within(double limit) {
  for (const uint32_t number : waiting_) {
    List &list = subsets_[number].list;
    size_t end = list.begin;
    for (size_t e = list.begin; e < list.end; ++e) {
      if (estimate(subsets_[number], lists_.elements[e]) <= limit) lists_.elements[end++] = lists_.elements[e];
    }
    if (end > list.begin) list.end = end;
  }
}

// Drops everything on no path within the limit. Parts that stay move towards the beginning; ids are copied, as they are not in
// the order of their users.
void Determiniser::keep_within(const ResultCosts &costs, double limit) {
  keep_waiting_within(limit);  // subsets that have nothing within it are dropped below
  std::vector<uint32_t> numbers(subsets_.size(), kNone), state_numbers(states_.size(), kNone);
  uint32_t n_subsets = 0, n_states = 0;
  for (size_t s = 0; s < states_.size(); ++s) {
    if (s == 0 || costs.from_start[s] + costs.to_end[s] <= limit) state_numbers[s] = n_states++;
  }
  for (size_t i = 0; i < subsets_.size(); ++i) {
    const uint32_t state = subsets_[i].result_state;
    const bool stays =
        state == kNone ? i == 0 || total(subsets_[i].cost) + costs.waiting_to_end[i] <= limit : state_numbers[state] != kNone;
    if (stays) numbers[i] = n_subsets++;
  }
  std::deque<uint32_t> ids;
  const auto move_ids = [&](Alignment &alignment) {
    const auto begin = ids_.begin() + static_cast<std::ptrdiff_t>(alignment.begin);
    alignment.begin = ids.size();
    ids.insert(ids.end(), begin, begin + alignment.size);
  };
  for (Subset &subset : subsets_) subset.n_arcs = 0;
  size_t n_arcs = 0;
  n_assembled_ids_ = 0;
  for (size_t s = 0; s < states_.size(); ++s) {
    if (state_numbers[s] == kNone) continue;
    ResultState state = states_[s];
    const size_t begin = n_arcs;
    for (size_t a = state.arcs_begin; a < state.arcs_end; ++a) {
      CompactArc arc = arcs_[a];
      if (!(costs.from_start[s] + arc_cost(arc) + cost_after(arc, costs) <= limit) || numbers[arc.next_state] == kNone)
        continue;
      ++subsets_[arc.next_state].n_arcs;
      n_assembled_ids_ += n_assembled_ids(s, arc);
      move_ids(arc.alignment);
      arc.next_state = numbers[arc.next_state];
      arcs_[n_arcs++] = arc;
    }
    state.arcs_begin = begin;
    state.arcs_end = n_arcs;
    if (is_end(state.end.cost)) n_assembled_ids_ += state.end.alignment.size + (s == 0 ? subsets_[0].n_passed_ids : 0);
    move_ids(state.end.alignment);
    states_[state_numbers[s]] = state;
  }
  for (size_t i = 0; i < subsets_.size(); ++i) {
    if (numbers[i] == kNone) continue;
    Subset subset = subsets_[i];
    move_ids(subset.lead_ids);
    for (Alignment &passed : subset.passed_ids) move_ids(passed);
    if (subset.result_state != kNone) subset.result_state = state_numbers[subset.result_state];
    subsets_[numbers[i]] = subset;
  }
  cut(subsets_, n_subsets);
  cut(states_, n_states);
  cut(arcs_, n_arcs);
  ids_ = std::move(ids);
  std::vector<uint32_t> waiting;
  for (const uint32_t number : waiting_) {
    if (numbers[number] != kNone) waiting.push_back(numbers[number]);
  }
  waiting_ = std::move(waiting);
  kept_beam_ = beam_;
}

// A path that is the only one may cost more than the best of a later piece, which continues what limits have dropped.
void Determiniser::keep_within_beam() {
  const ResultCosts costs = result_costs();
  if (!best_only_) return keep_within(costs, limit_of(beam_));
  const double best =
      states_.empty() ? total(subsets_[0].cost) + costs.waiting_to_end[0] : costs.from_start[0] + costs.to_end[0];
  keep_within(costs, best + lattice_->slack);
}

// Keeps the lists of the waiting subsets alone, with the lattice's new numbers of states; elements without one are dropped.
template <typename Renumber>
void Determiniser::keep_waiting_lists(const Renumber &renumber) {
  ElementLists kept;
  known_subsets_.clear();
  known_states_.clear();
  std::vector<uint32_t> waiting;
  for (const uint32_t number : waiting_) {
    List &list = subsets_[number].list;
    list = kept.append(lists_, list);
    size_t end = list.begin;
    for (size_t e = list.begin; e < list.end; ++e) {
      SubsetElement element = kept.elements[e];
      element.state = renumber(element.state);
      if (element.state != kNone) kept.elements[end++] = element;
    }
    kept.elements.resize(end);
    list.end = end;
    if (list.begin == end) continue;
    if (subsets_[number].passed_ids.empty()) kept.find_or_add(known_subsets_, list, number);  // others begin at the gate
    waiting.push_back(number);
  }
  waiting_ = std::move(waiting);
  lists_ = std::move(kept);
}

uint32_t Determiniser::forget(uint32_t n_states) {
  uint32_t n = n_states;
  for (const uint32_t number : waiting_) n = std::min(n, lists_.elements[subsets_[number].list.begin].state);
  keep_waiting_lists([n](uint32_t state) { return state - n; });
  n_forgotten_ += n;
  return n;
}

uint32_t Determiniser::first_needed(const PreparedLattice &lattice, double limit) const {
  uint32_t first = kNone;
  for (const uint32_t number : waiting_) {
    const Subset &subset = subsets_[number];
    for (size_t e = subset.list.begin; e < subset.list.end; ++e) {
      const SubsetElement &element = lists_.elements[e];
      if (total(subset.cost + element.cost + lattice.to_end[element.state]) > limit) continue;
      first = std::min(first, element.state);
      break;  // others are higher
    }
  }
  return first;
}

void Determiniser::narrow_to(double beam, const PreparedLattice &lattice, double limit) {
  beam_ = std::min(beam_, beam);
  lattice_ = &lattice;
  const auto is_outside = [&](uint32_t number) {
    const Subset &subset = subsets_[number];
    const auto begin = lists_.elements.begin() + static_cast<std::ptrdiff_t>(subset.list.begin),
               end = lists_.elements.begin() + static_cast<std::ptrdiff_t>(subset.list.end);
    return std::none_of(begin, end, [&](const SubsetElement &element) { return estimate(subset, element) <= limit; });
  };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_outside), waiting_.end());
  keep_waiting_within(limit);
}

// Numbers in the lattice become lower, and those in its whole, which order the states of the result, must not.
void Determiniser::renumber(const std::vector<uint32_t> &numbers) {
  keep_waiting_lists([&numbers](uint32_t state) { return numbers[state]; });
  n_forgotten_ += static_cast<uint64_t>(std::count(numbers.begin(), numbers.end(), kNone));
}

}  // namespace asr
