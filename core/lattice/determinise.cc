// SPDX-License-Identifier: Apache-2.0
// Subset construction (M. Mohri 1997; with strings of transition-ids as in D. Povey et al., Generating exact lattices in the
// WFST framework, 2012), best subsets first.
//
// A subset is where a word sequence leads in the lattice: states, with what the best paths there cost and consume beyond
// their common part. Its estimate, the least cost of a complete path through it, is exact, so subsets are taken up in the
// order of the best word sequences that need them, each after all better ways to reach it. Then its paths are followed to
// where the next words begin. What they have in common up to there goes to the arcs that lead here, and subsets that do not
// differ in the rest are one state of the result.
#include "core/lattice/determinise.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "core/lattice/prune.h"
#include "core/lattice/word_step.h"

namespace asr {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

// Lists of elements, and their numbers by what they hold.
class ElementLists {
 public:
  std::vector<SubsetElement> elements;
  std::vector<uint32_t> pool;  // ids of the elements

  struct List {
    size_t begin, end;  // in elements
    uint32_t frame;     // frames consumed on the way to them, not counting their own ids
  };
  using Index = std::unordered_multimap<uint64_t, std::pair<List, uint32_t>>;

  // The number of an equal list, or kNone; then this one is added with number `next`.
  uint32_t find_or_add(Index &index, const List &list, uint32_t next) const {
    const uint64_t hash = hash_of(list);
    const auto [begin, end] = index.equal_range(hash);
    for (auto found = begin; found != end; ++found) {
      if (same(found->second.first, list)) return found->second.second;
    }
    index.emplace(hash, std::pair(list, next));
    return kNone;
  }

 private:
  uint64_t hash_of(const List &list) const {
    uint64_t hash = list.frame;
    for (size_t e = list.begin; e < list.end; ++e) {
      const SubsetElement &element = elements[e];
      hash = mix(mix(hash, element.state), std::hash<double>()(element.cost.graph));
      hash = mix(hash, std::hash<double>()(element.cost.acoustic));
      for (uint32_t i = 0; i < element.ids.size; ++i) hash = mix(hash, pool[element.ids.begin + i]);
    }
    return hash;
  }

  bool same(const List &a, const List &b) const {
    if (a.frame != b.frame || a.end - a.begin != b.end - b.begin) return false;
    const SubsetElement *const first = elements.data();
    return std::equal(first + a.begin, first + a.end, first + b.begin, [this](const SubsetElement &x, const SubsetElement &y) {
      const uint32_t *const ids_x = pool.data() + x.ids.begin, *const ids_y = pool.data() + y.ids.begin;
      return x.state == y.state && x.cost == y.cost && x.ids.size == y.ids.size && std::equal(ids_x, ids_x + x.ids.size, ids_y);
    });
  }
};

class Determiniser {
 public:
  Determiniser(Lattice lattice, const DeterminiseOptions &options)
      : options_(options),
        prepared_(prepare(std::move(lattice), options.acoustic_scale, options.lattice_beam)),
        step_(prepared_, options.acoustic_scale) {}

  Determinised run() {
    Determinised result;
    result.beam = options_.lattice_beam;
    if (prepared_.empty()) return result;
    lists_.elements.push_back({0, {}, {}});
    subsets_.push_back({{0, 1, 0}, {}, kNone, {}, {}});
    wait(0);
    while (!queue_.empty()) {
      const Waiting next = queue_.top();
      if (best_is_complete_ && step_.work() > options_.max_work) {
        result.beam = std::min(result.beam, next.estimate - prepared_.best);
        break;
      }
      queue_.pop();
      if (subsets_[next.subset].result_state == kNone) take_up(next.subset);
    }
    result.lattice = prune(assemble(), options_.acoustic_scale, result.beam);
    return result;
  }

 private:
  using List = ElementLists::List;
  struct Subset {
    List list;
    LatticeCost cost;       // of the best word sequence that leads here
    uint32_t result_state;  // kNone until it is taken up
    LatticeCost lead_cost;  // of what is common to all that follow, up to the state of the result
    Alignment lead_ids;
  };
  struct ResultState {
    uint32_t first_state;  // the lowest of its elements
    uint32_t frame;
    size_t arcs_begin, arcs_end;
    CompactLattice::End end;
  };
  struct Waiting {
    double estimate;
    uint32_t frame, subset;
    bool operator<(const Waiting &other) const {  // later in the queue: of equal estimates the one nearer to the end is first
      return std::tie(other.estimate, frame, other.subset) < std::tie(estimate, other.frame, subset);
    }
  };

  const DeterminiseOptions options_;
  const PreparedLattice prepared_;
  WordStep step_;
  ElementLists lists_;
  std::vector<Subset> subsets_;
  ElementLists::Index known_subsets_, known_states_;
  std::vector<ResultState> states_;
  std::vector<CompactArc> arcs_;  // next_state is a subset
  std::vector<uint32_t> transition_ids_, lead_ids_;
  std::priority_queue<Waiting> queue_;
  bool best_is_complete_ = false;

  double total(const LatticeCost &cost) const { return cost.total(options_.acoustic_scale); }

  void wait(uint32_t number) {
    const Subset &subset = subsets_[number];
    double estimate = kNoEnd.graph;
    for (size_t e = subset.list.begin; e < subset.list.end; ++e) {
      const SubsetElement &element = lists_.elements[e];
      estimate = std::min(estimate, total(subset.cost + element.cost + prepared_.to_end[element.state]));
    }
    queue_.push({estimate, subset.list.frame, number});
  }

  void take_up(uint32_t number) {
    const List list = subsets_[number].list;
    step_.begin(&lists_.elements[list.begin], list.end - list.begin, lists_.pool.data(), prepared_.limit - prepared_.best);
    if (join_state(number)) return;
    const Subset subset = subsets_[number];
    const uint32_t n_lead_ids = subset.lead_ids.size;
    ResultState &state = states_.back();
    if (is_end(step_.end_cost())) {
      if (total(subset.cost + step_.end_cost()) <= prepared_.best) best_is_complete_ = true;
      state.end.cost = step_.end_cost() - subset.lead_cost;
      state.end.alignment.begin = transition_ids_.size();
      step_.append_end_ids(n_lead_ids, &transition_ids_);
      state.end.alignment.size = static_cast<uint32_t>(transition_ids_.size() - state.end.alignment.begin);
    }
    state.arcs_begin = arcs_.size();
    while (step_.next_word()) {
      if (total(subset.cost) + step_.estimate() > prepared_.limit) continue;
      const Alignment ids = {transition_ids_.size(), step_.n_ids() - n_lead_ids};
      step_.append_ids(n_lead_ids, &transition_ids_);
      arcs_.push_back({reach(subset), step_.word(), step_.cost() - subset.lead_cost, ids});
    }
    state.arcs_end = arcs_.size();
  }

  // Gives the subset a state of the result: that of another subset from which words go on in the same way (true), or a new
  // one, which is then the last.
  bool join_state(uint32_t number) {
    Subset &subset = subsets_[number];
    if (number == 0) {  // no arc leads here that could take what is common
      subset.result_state = 0;
      states_.push_back({0, 0, 0, 0, {}});
      return false;
    }
    subset.lead_cost = step_.cost();
    subset.lead_ids = {lead_ids_.size(), step_.n_ids()};
    step_.append_ids(0, &lead_ids_);
    const size_t begin = lists_.elements.size(), pool_begin = lists_.pool.size();
    step_.append_elements(&lists_.elements, &lists_.pool);
    const List list = {begin, lists_.elements.size(), subset.list.frame + step_.n_ids()};
    const auto next = static_cast<uint32_t>(states_.size());
    const uint32_t known = lists_.find_or_add(known_states_, list, next);
    if (known == kNone) {
      subset.result_state = next;
      states_.push_back({lists_.elements[begin].state, list.frame, 0, 0, {}});
      return false;
    }
    subset.result_state = known;
    lists_.elements.resize(begin);
    lists_.pool.resize(pool_begin);
    return true;
  }

  // The subset that the step's current word leads to from `before`: a new one, unless it was reached before.
  uint32_t reach(const Subset &before) {
    const size_t begin = lists_.elements.size(), pool_begin = lists_.pool.size();
    step_.append_elements(&lists_.elements, &lists_.pool);
    const List list = {begin, lists_.elements.size(), before.list.frame + step_.n_ids()};
    const LatticeCost cost = before.cost + step_.cost();
    const uint32_t known = lists_.find_or_add(known_subsets_, list, static_cast<uint32_t>(subsets_.size()));
    if (known == kNone) {
      subsets_.push_back({list, cost, kNone, {}, {}});
      wait(static_cast<uint32_t>(subsets_.size() - 1));
      return static_cast<uint32_t>(subsets_.size() - 1);
    }
    lists_.elements.resize(begin);
    lists_.pool.resize(pool_begin);
    if (subsets_[known].result_state == kNone && total(cost) < total(subsets_[known].cost)) {
      subsets_[known].cost = cost;
      wait(known);
    }
    return known;
  }

  // The states and the arcs between them. A word leads to higher states of the lattice, so the lowest among the elements of a
  // state puts it after all that lead to it.
  CompactLattice assemble() const {
    std::vector<uint32_t> order(states_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [this](uint32_t a, uint32_t b) { return states_[a].first_state < states_[b].first_state; });
    std::vector<uint32_t> numbers(states_.size());
    for (uint32_t n = 0; n < order.size(); ++n) numbers[order[n]] = n;

    CompactLattice lattice;
    const auto append_ids = [&lattice](const std::vector<uint32_t> &from, const Alignment &ids) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(ids.begin);
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
        append_ids(transition_ids_, arc.alignment);
        append_ids(lead_ids_, next.lead_ids);
      }
      lattice.arc_begin.push_back(lattice.arcs.size());
      lattice.frames.push_back(state.frame);
      lattice.ends.push_back({state.end.cost, {lattice.transition_ids.size(), state.end.alignment.size}});
      append_ids(transition_ids_, state.end.alignment);
    }
    return lattice;
  }
};

}  // namespace

Determinised determinise(Lattice lattice, const DeterminiseOptions &options) {
  return Determiniser(std::move(lattice), options).run();
}

}  // namespace asr
