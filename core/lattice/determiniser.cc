// SPDX-License-Identifier: Apache-2.0
// Subset construction (M. Mohri 1997; with strings of transition-ids as in D. Povey et al., Generating exact lattices in the
// WFST framework, 2012), best subsets first.
//
// A subset is the set of lattice states that a word sequence leads to. Each state has the cost and ids of the best path there,
// without the part common to all paths of the subset. The estimate of a subset is the least cost of a complete path through it,
// and it is exact. So subsets are expanded in the order of the best word sequences that need them, each after all better ways
// to reach it. Expanding follows the subset's paths to the beginning of the next words. Their common part moves to the arcs
// that lead here. Subsets that do not differ in the rest are one state of the result.
//
// A lattice may come in pieces. A subset waits for the next piece if paths without a word lead from it to the states that end
// the piece. Earlier pieces keep only the states that waiting subsets can reach.
//
// Expanding a subset lists the states after each of its next words. In a wide beam these are so many that memory may run out
// before the best path is complete, so the search begins again with a narrower beam (determiniser_width.cc). Only if none is
// narrow enough, the best path alone is followed: costs too large for exact sums, for example, make estimates differ by
// rounding, and the search may spread over ways of equal cost before one of them is complete.
#include "core/lattice/determiniser.h"

#include <algorithm>
#include <cmath>

namespace asr {

Determiniser::Determiniser(const DeterminiseOptions &options)
    : options_(options), beam_(options.lattice_beam), kept_beam_(options.lattice_beam) {
  lists_.elements.push_back({0, {}, {}});
  subsets_.push_back({{0, 1, 0}, {}, kNone, 0, {}, {}});
  waiting_.push_back(0);
  lists_.find_or_add(known_subsets_, subsets_[0].list, 0);  // as return_to() does, so that a repetition needs no more memory
}

size_t Determiniser::bytes_of(const Sizes &n) {
  return (n.n_subsets * sizeof(Subset) + n.n_states * sizeof(ResultState) + n.n_arcs * sizeof(CompactArc) + n.n_ids * 4) * 17 /
         16;
}

size_t Determiniser::assembled_bytes_of(const Sizes &n) {
  constexpr size_t kResultState = sizeof(CompactLattice::End) + 40;  // including the costs that prune() compares
  return n.n_arcs * sizeof(CompactArc) + n.n_states * kResultState + 4 * n.n_assembled_ids;
}

size_t Determiniser::list_bytes_of(size_t n_lists, size_t n_elements, size_t n_ids) {
  constexpr size_t kIndexEntry = 96;  // including its share of the hash table
  return n_lists * kIndexEntry +
         3 * (n_elements * sizeof(SubsetElement) + 4 * n_ids);  // 3: a vector during its copy to a larger one
}

// Returns an upper bound of the memory in use.
size_t Determiniser::held_bytes() const {
  return bytes_of(sizes()) +
         list_bytes_of(known_subsets_.size() + known_states_.size(), lists_.elements.size(), lists_.pool.size()) +
         3 * (queue_.size() * sizeof(Estimated) + waiting_.size() * 4) + (step_ ? step_->bytes() : 0);
}

size_t Determiniser::bytes() const {
  const size_t result = bytes_of(sizes()) - freed_bytes_;
  const size_t held = held_bytes() - freed_bytes_ - freed_lists_bytes_;
  const size_t assembled = assembled_bytes_of(sizes()) - freed_assembled_bytes_;
  return std::max(held, assembled + std::max(result, assembled));  // finish() copies twice
}

bool Determiniser::has_bytes(size_t n) const {
  return bytes() + n <= max_bytes_ && (freed_bytes_ + freed_lists_bytes_ == 0 || held_bytes() + n <= max_held_bytes_);
}

// Returns true if the paths of the step fit into the lists.
bool Determiniser::has_room() const {
  return has_bytes(3 * (step_->n_elements() * sizeof(SubsetElement) + 4 * step_->n_element_ids()));
}

void Determiniser::advance(PreparedLattice &lattice, uint32_t open, const Room &room, const StopToken &stop) {
  lattice_ = &lattice;
  open_ = open;
  prepared_beam_ = beam_;
  const Start begun = start();
  double reached = reach(beam_, room, stop);
  if (reached < prepared_beam_ && !best_only_) {
    order_by_cost(lattice, options_.acoustic_scale);
    reached = find_width(begun, reached, room, stop);
  }
  if (reached < 0) {
    follow_best_path(begun, open);
  } else {
    beam_ = reached;
  }
  std::sort(waiting_.begin(), waiting_.end());
  waiting_.erase(std::unique(waiting_.begin(), waiting_.end()), waiting_.end());
  if (beam_ < kept_beam_ && open < lattice.lattice.n_states()) keep_within_beam();
  freed_bytes_ = freed_lists_bytes_ = freed_assembled_bytes_ = 0;
}

// Follows the waiting subsets within a beam. Returns the beam that was reached; below 0 if work or memory ran out before the
// best path was complete.
double Determiniser::reach(double beam, const Room &room, const StopToken &stop) {
  limit_ = limit_of(beam);
  beam_ = beam;
  is_narrower_ = beam < kept_beam_;
  const Dropped freed = is_narrower_ ? beyond(result_costs(), limit_) : Dropped{};
  freed_bytes_ = bytes_of(freed.sizes);
  freed_lists_bytes_ = list_bytes_of(freed.n_waiting, freed.n_elements, freed.n_ids);
  freed_assembled_bytes_ = assembled_bytes_of(freed.sizes);
  const size_t held = bytes();
  max_work_ = room.max_work;
  max_bytes_ = held + (room.max_bytes - std::min(room.max_bytes, held)) / room.divisor;
  max_held_bytes_ = std::max(max_bytes_, room.max_bytes);
  best_is_complete_ = any_is_complete_ = false;
  const Lattice &lattice = lattice_->lattice;
  const uint64_t n_arcs = lattice.arcs.size() + lattice.n_states();
  step_.emplace(*lattice_, options_.acoustic_scale, std::min(open_, gate_),
                WordStep::Limits{2 * max_work_ + 64 * n_arcs, limit_, stop});
  for (const uint32_t number : waiting_) enqueue(number);
  waiting_.clear();
  best_cost_ = queue_.empty() ? lattice_->best : queue_.top().cost;
  best_cost_ += std::min(1e-9 * (1 + std::fabs(best_cost_)), 1e-3);  // less than any width, whatever the costs
  const bool done = search() && any_is_complete_;
  queue_ = {};
  step_.reset();
  return done ? beam_ : -1;
}

// Returns false if work or memory ran out before the best path was complete.
bool Determiniser::search() {
  while (!queue_.empty()) {
    const Estimated next = queue_.top();
    if (best_is_complete_ && (best_only_ || step_->work() > max_work_ || !has_bytes(0))) {
      stop_at(next.cost);
      return true;
    }
    queue_.pop();
    if (subsets_[next.subset].result_state != kNone || take_up(next.subset)) continue;
    if (best_is_complete_) stop_at(next.cost);
    return best_is_complete_;
  }
  return true;
}

// Narrows the beam: every path that costs less than `cost` has been found, and no others will be.
void Determiniser::stop_at(double cost) { beam_ = std::min(beam_, std::max(0.0, cost - lattice_->best)); }

void Determiniser::enqueue(uint32_t number) {
  const Subset &subset = subsets_[number];
  double least = kNoEnd.graph;
  for (size_t e = subset.list.begin; e < subset.list.end; ++e) least = std::min(least, estimate(subset, lists_.elements[e]));
  if (least <= limit_) queue_.push({least, subset.list.frame, number});
}

// Returns false if work or memory ran out; the arcs added until then are part of the result.
bool Determiniser::take_up(uint32_t number) {
  const List list = subsets_[number].list;
  if (!has_bytes(0)) return false;
  // Lists that earlier pieces left may be of a wider beam.
  const Subset &waiting = subsets_[number];
  elements_within_.clear();
  for (size_t e = list.begin; e < list.end; ++e) {
    const SubsetElement &element = lists_.elements[e];
    if (!is_narrower_ || estimate(waiting, element) <= limit_) elements_within_.push_back(element);
  }
  step_->begin(elements_within_.data(), elements_within_.size(), lists_.pool.data(), limit_ - lattice_->best,
               std::min(max_bytes_ - bytes(), max_held_bytes_ - std::min(held_bytes(), max_held_bytes_)));
  if (step_->ran_out()) return false;
  if (step_->leads_nowhere()) return true;
  if (step_->reaches_open() && (gate_ == kNone || step_->open_estimate() <= step_->word_estimate())) return wait(number);
  if (const Join joined = join_state(number); joined != Join::kNew) return joined == Join::kKnown;
  const Subset subset = subsets_[number];
  const uint32_t n_lead_ids = subset.lead_ids.size;
  ResultState &state = states_.back();
  if (is_end(step_->end_cost())) {
    any_is_complete_ = true;
    if (total(subset.cost + step_->end_cost()) <= best_cost_) best_is_complete_ = true;
    state.end.cost = step_->end_cost() - subset.lead_cost;
    step_->append_end_ids(n_lead_ids, &step_ids_);
    state.end.alignment = take_step_ids();
    n_assembled_ids_ += state.end.alignment.size + (number == 0 ? subset.n_passed_ids : 0);
  }
  state.arcs_begin = state.arcs_end = arcs_.size();
  while (step_->next_word()) {
    if (total(subset.cost) + step_->estimate() > limit_) continue;
    if (!has_room()) return false;
    step_->append_ids(n_lead_ids, &step_ids_);
    const Alignment ids = take_step_ids();
    add_arc(next_subset(subset), step_->word(), step_->cost() - subset.lead_cost, ids);
    state.arcs_end = arcs_.size();
  }
  return true;
}

// Leaves the subset waiting for more of the lattice, at the gate if there is one. Returns false if memory runs out. Mostly it
// has one state there, so that the way to it is passed for good.
bool Determiniser::wait(uint32_t number) {
  if (gate_ != kNone) {
    const size_t n_bytes = step_->n_open_elements() * sizeof(SubsetElement) + 4 * step_->n_open_ids();
    if (!has_bytes(3 * n_bytes)) return false;
    Subset &subset = subsets_[number];
    List &list = subset.list;
    const size_t pool_begin = lists_.pool.size();
    list.begin = lists_.elements.size();
    step_->append_open_elements(&lists_.elements, &lists_.pool);
    list.end = lists_.elements.size();
    if (list.end - list.begin == 1) {
      SubsetElement &element = lists_.elements.back();
      subset.passed_ids.push_back({ids_.size(), element.ids.size});
      subset.n_passed_ids += element.ids.size;
      ids_.insert(ids_.end(), lists_.pool.begin() + static_cast<std::ptrdiff_t>(pool_begin), lists_.pool.end());
      n_assembled_ids_ += uint64_t{element.ids.size} * subset.n_arcs;
      subset.passed_cost = subset.passed_cost + element.cost;
      subset.cost = subset.cost + element.cost;
      list.frame += element.ids.size;
      lists_.pool.resize(pool_begin);
      element = {element.state, {pool_begin, 0}, {}};
    }
  }
  best_is_complete_ = any_is_complete_ = true;
  waiting_.push_back(number);
  return true;
}

void Determiniser::commit(PreparedLattice &lattice, uint32_t gate, uint32_t open, const Room &room, const StopToken &stop) {
  gate_ = gate;
  advance(lattice, open, room, stop);
  gate_ = kNone;
}

Alignment Determiniser::take_step_ids() {
  const Alignment ids = {ids_.size(), static_cast<uint32_t>(step_ids_.size())};
  ids_.insert(ids_.end(), step_ids_.begin(), step_ids_.end());
  step_ids_.clear();
  return ids;
}

// Returns the number of ids that the arc from a state of the result will have.
uint64_t Determiniser::n_assembled_ids(size_t state, const CompactArc &arc) const {
  const Subset &next = subsets_[arc.next_state];
  const uint64_t n_own_ids = state == 0 ? subsets_[0].n_passed_ids : 0;
  return n_own_ids + arc.alignment.size + next.n_passed_ids + next.lead_ids.size;
}

// Adds an arc to the last state.
void Determiniser::add_arc(uint32_t next_subset, uint32_t word, const LatticeCost &cost, const Alignment &ids) {
  arcs_.push_back({next_subset, word, cost, ids});
  ++subsets_[next_subset].n_arcs;
  n_assembled_ids_ += n_assembled_ids(states_.size() - 1, arcs_.back());
}

// Gives the subset a state of the result. It is the state of another subset from which the same words go on, or a new one,
// which is then the last.
Determiniser::Join Determiniser::join_state(uint32_t number) {
  Subset &subset = subsets_[number];
  if (number == 0) {  // no arc leads here that could take the common part
    subset.result_state = 0;
    states_.push_back({0, 0, 0, 0, {}});
    return Join::kNew;
  }
  if (!has_room()) return Join::kNoRoom;
  subset.lead_cost = step_->cost();
  step_->append_ids(0, &step_ids_);
  subset.lead_ids = take_step_ids();
  n_assembled_ids_ += uint64_t{subset.lead_ids.size} * subset.n_arcs;
  const size_t begin = lists_.elements.size(), pool_begin = lists_.pool.size();
  step_->append_elements(&lists_.elements, &lists_.pool);
  const List list = {begin, lists_.elements.size(), subset.list.frame + step_->n_ids()};
  const auto next = static_cast<uint32_t>(states_.size());
  const uint32_t known = lists_.find_or_add(known_states_, list, next);
  if (known == kNone) {
    subset.result_state = next;
    states_.push_back({n_forgotten_ + lists_.elements[begin].state, list.frame, 0, 0, {}});
    return Join::kNew;
  }
  subset.result_state = known;
  lists_.elements.resize(begin);
  lists_.pool.resize(pool_begin);
  return Join::kKnown;
}

// Returns the subset that the step's current word leads to from `before`, a new one unless known.
uint32_t Determiniser::next_subset(const Subset &before) {
  const size_t begin = lists_.elements.size(), pool_begin = lists_.pool.size();
  step_->append_elements(&lists_.elements, &lists_.pool);
  const List list = {begin, lists_.elements.size(), before.list.frame + step_->n_ids()};
  const LatticeCost cost = before.cost + step_->cost();
  const auto next = static_cast<uint32_t>(subsets_.size());
  const uint32_t known = lists_.find_or_add(known_subsets_, list, next);
  if (known == kNone) {
    subsets_.push_back({list, cost, kNone, 0, {}, {}});
    enqueue(next);
    return next;
  }
  lists_.elements.resize(begin);
  lists_.pool.resize(pool_begin);
  const LatticeCost passed = cost + subsets_[known].passed_cost;
  if (subsets_[known].result_state == kNone && total(passed) < total(subsets_[known].cost)) {
    subsets_[known].cost = passed;
    enqueue(known);
  }
  return known;
}

}  // namespace asr
