// SPDX-License-Identifier: Apache-2.0
// Subset construction (M. Mohri 1997; with strings of transition-ids as in D. Povey et al., Generating exact lattices in the
// WFST framework, 2012), best subsets first.
//
// A subset is where a word sequence leads in the lattice: states, with what the best paths there cost and consume beyond
// their common part. Its estimate, the least cost of a complete path through it, is exact, so subsets are taken up in the
// order of the best word sequences that need them, each after all better ways to reach it. Then its paths are followed to
// where the next words begin. What they have in common up to there goes to the arcs that lead here, and subsets that do not
// differ in the rest are one state of the result.
//
// Of a lattice in pieces, subsets from which paths without a word lead to the states that end the piece wait for the next one.
// Only what they can reach is kept of the pieces so far.
#include "core/lattice/determinise.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include "core/lattice/element_lists.h"
#include "core/lattice/lattice_window.h"
#include "core/lattice/prune.h"

namespace asr {
namespace {

constexpr uint32_t kNone = ElementLists::kNone;

class Determiniser {
 public:
  explicit Determiniser(const DeterminiseOptions &options) : options_(options), beam_(options.lattice_beam) {
    lists_.elements.push_back({0, {}, {}});
    subsets_.push_back({{0, 1, 0}, {}, kNone, {}, {}});
    waiting_.push_back(0);
  }

  double beam() const { return beam_; }

  // Goes on from the subsets that wait, up to the states from `open` on, of which more is to come.
  void advance(const PreparedLattice &lattice, uint32_t open) {
    lattice_ = &lattice;
    step_.emplace(lattice, options_.acoustic_scale, open);
    best_is_complete_ = false;
    for (const uint32_t number : waiting_) enqueue(number);
    waiting_.clear();
    while (!queue_.empty()) {
      const Estimated next = queue_.top();
      if (best_is_complete_ && step_->work() > options_.max_work) {
        beam_ = std::min(beam_, next.cost - lattice.best);
        queue_ = {};
        break;
      }
      queue_.pop();
      if (subsets_[next.subset].result_state == kNone) take_up(next.subset);
    }
    step_.reset();
    std::sort(waiting_.begin(), waiting_.end());
    waiting_.erase(std::unique(waiting_.begin(), waiting_.end()), waiting_.end());
  }

  // Forgets all that the waiting subsets do not need. Returns how many states at the beginning of the lattice go with it: the
  // others are to be numbered from 0 on.
  uint32_t forget(uint32_t n_states) {
    uint32_t n = n_states;
    for (const uint32_t number : waiting_) n = std::min(n, lists_.elements[subsets_[number].list.begin].state);
    ElementLists kept;
    known_subsets_.clear();
    known_states_.clear();
    for (const uint32_t number : waiting_) {
      List &list = subsets_[number].list;
      list = kept.append(lists_, list);
      for (size_t e = list.begin; e < list.end; ++e) kept.elements[e].state -= n;
      kept.find_or_add(known_subsets_, list, number);
    }
    lists_ = std::move(kept);
    n_forgotten_ += n;
    return n;
  }

  Determinised finish() const {
    if (states_.empty()) return {{}, beam_};
    return {prune(assemble(), options_.acoustic_scale, beam_), beam_};
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
    uint64_t first_state;  // the lowest of its elements
    uint32_t frame;
    size_t arcs_begin, arcs_end;
    CompactLattice::End end;
  };
  struct Estimated {
    double cost;
    uint32_t frame, subset;
    bool operator<(const Estimated &other) const {  // later in the queue: of equal costs the one nearer to the end is first
      return std::tie(other.cost, frame, other.subset) < std::tie(cost, other.frame, subset);
    }
  };

  const DeterminiseOptions options_;
  double beam_;
  const PreparedLattice *lattice_ = nullptr;
  std::optional<WordStep> step_;
  ElementLists lists_;
  std::vector<Subset> subsets_;
  ElementLists::Index known_subsets_, known_states_;
  std::vector<ResultState> states_;
  std::vector<CompactArc> arcs_;  // next_state is a subset
  std::vector<uint32_t> transition_ids_, lead_ids_;
  std::priority_queue<Estimated> queue_;
  std::vector<uint32_t> waiting_;  // subsets that need more of the lattice
  uint64_t n_forgotten_ = 0;       // states
  bool best_is_complete_ = false;  // as far as there is a lattice

  double total(const LatticeCost &cost) const { return cost.total(options_.acoustic_scale); }

  void enqueue(uint32_t number) {
    const Subset &subset = subsets_[number];
    double least = kNoEnd.graph;
    for (size_t e = subset.list.begin; e < subset.list.end; ++e) {
      const SubsetElement &element = lists_.elements[e];
      least = std::min(least, total(subset.cost + element.cost + lattice_->to_end[element.state]));
    }
    if (least <= lattice_->limit) queue_.push({least, subset.list.frame, number});
  }

  void take_up(uint32_t number) {
    const List list = subsets_[number].list;
    step_->begin(&lists_.elements[list.begin], list.end - list.begin, lists_.pool.data(), lattice_->limit - lattice_->best);
    if (step_->leads_nowhere()) return;
    if (step_->reaches_open()) {
      best_is_complete_ = true;
      waiting_.push_back(number);
      return;
    }
    if (join_state(number)) return;
    const Subset subset = subsets_[number];
    const uint32_t n_lead_ids = subset.lead_ids.size;
    ResultState &state = states_.back();
    if (is_end(step_->end_cost())) {
      if (total(subset.cost + step_->end_cost()) <= lattice_->best) best_is_complete_ = true;
      state.end.cost = step_->end_cost() - subset.lead_cost;
      state.end.alignment.begin = transition_ids_.size();
      step_->append_end_ids(n_lead_ids, &transition_ids_);
      state.end.alignment.size = static_cast<uint32_t>(transition_ids_.size() - state.end.alignment.begin);
    }
    state.arcs_begin = arcs_.size();
    while (step_->next_word()) {
      if (total(subset.cost) + step_->estimate() > lattice_->limit) continue;
      const Alignment ids = {transition_ids_.size(), step_->n_ids() - n_lead_ids};
      step_->append_ids(n_lead_ids, &transition_ids_);
      arcs_.push_back({reach(subset), step_->word(), step_->cost() - subset.lead_cost, ids});
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
    subset.lead_cost = step_->cost();
    subset.lead_ids = {lead_ids_.size(), step_->n_ids()};
    step_->append_ids(0, &lead_ids_);
    const size_t begin = lists_.elements.size(), pool_begin = lists_.pool.size();
    step_->append_elements(&lists_.elements, &lists_.pool);
    const List list = {begin, lists_.elements.size(), subset.list.frame + step_->n_ids()};
    const auto next = static_cast<uint32_t>(states_.size());
    const uint32_t known = lists_.find_or_add(known_states_, list, next);
    if (known == kNone) {
      subset.result_state = next;
      states_.push_back({n_forgotten_ + lists_.elements[begin].state, list.frame, 0, 0, {}});
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
    step_->append_elements(&lists_.elements, &lists_.pool);
    const List list = {begin, lists_.elements.size(), before.list.frame + step_->n_ids()};
    const LatticeCost cost = before.cost + step_->cost();
    const uint32_t known = lists_.find_or_add(known_subsets_, list, static_cast<uint32_t>(subsets_.size()));
    if (known == kNone) {
      subsets_.push_back({list, cost, kNone, {}, {}});
      enqueue(static_cast<uint32_t>(subsets_.size() - 1));
      return static_cast<uint32_t>(subsets_.size() - 1);
    }
    lists_.elements.resize(begin);
    lists_.pool.resize(pool_begin);
    if (subsets_[known].result_state == kNone && total(cost) < total(subsets_[known].cost)) {
      subsets_[known].cost = cost;
      enqueue(known);
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
  const PreparedLattice prepared = prepare(std::move(lattice), options.acoustic_scale, options.lattice_beam);
  Determiniser determiniser(options);
  if (!prepared.empty()) determiniser.advance(prepared, prepared.lattice.n_states());
  return determiniser.finish();
}

struct PieceDeterminiser::State {
  explicit State(const DeterminiseOptions &options) : window(options.acoustic_scale), determiniser(options) {}

  // What waits is followed again from where it begins, so only when there is twice as much to follow.
  void add(Lattice piece, bool is_last) {
    window.add(std::move(piece), is_last);
    if (!is_last && window.n_states() < 2 * n_kept) return;
    window.prepare(determiniser.beam());
    if (window.has_paths()) determiniser.advance(window.prepared(), window.open_begin());
    window.drop(determiniser.forget(window.open_begin()));
    n_kept = window.n_states();
  }

  LatticeWindow window;
  Determiniser determiniser;
  uint64_t n_kept = 0;  // states of the window that were needed on
};

PieceDeterminiser::PieceDeterminiser(const DeterminiseOptions &options) : options_(options) {
  check_beam(options.acoustic_scale, options.lattice_beam);
}
PieceDeterminiser::~PieceDeterminiser() = default;

void PieceDeterminiser::add(Lattice piece) {
  if (!state_) {
    DeterminiseOptions options = options_;
    options.max_work /= 16;
    state_ = std::make_unique<State>(options);
  }
  state_->add(std::move(piece), false);
}

Determinised PieceDeterminiser::finish(Lattice last) {
  if (!state_) return determinise(std::move(last), options_);
  state_->add(std::move(last), true);
  return state_->determiniser.finish();
}

}  // namespace asr
