// SPDX-License-Identifier: Apache-2.0
// Subset construction (M. Mohri 1997; with strings of transition-ids as in D. Povey et al., Generating exact lattices in the
// WFST framework, 2012), best subsets first.
//
// A state of the result is a subset: where one or more word sequences lead in the lattice, with what the paths there cost
// and consume beyond their common part. Its estimate, the least cost of a complete path through it, is exact, so subsets are
// taken up in the order of the best word sequences that need them, each after all better ways to reach it.
#include "core/lattice/determinise.h"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "core/lattice/prune.h"
#include "core/lattice/word_step.h"

namespace asr {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

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
    add_start();
    while (!queue_.empty()) {
      const Waiting next = queue_.top();
      if (best_is_complete_ && step_.work() > options_.max_work) {
        result.beam = std::min(result.beam, next.estimate - prepared_.best);
        break;
      }
      queue_.pop();
      if (!subsets_[next.subset].expanded) expand(next.subset);
    }
    result.lattice = prune(assemble(), options_.acoustic_scale, result.beam);
    return result;
  }

 private:
  struct Subset {
    size_t begin, end;     // in elements_
    uint32_t first_state;  // the lowest of its elements
    uint32_t frame;        // frames consumed on the way here, not counting the ids of elements
    LatticeCost cost;      // of the best word sequence that leads here
    bool expanded = false;
    size_t arcs_begin = 0, arcs_end = 0;
    CompactLattice::End ending = {};
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
  std::vector<Subset> subsets_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
  std::vector<SubsetElement> elements_;
  std::vector<uint32_t> pool_;    // ids of the elements
  std::vector<CompactArc> arcs_;  // next_state is a subset
  std::vector<uint32_t> transition_ids_;
  std::priority_queue<Waiting> queue_;
  bool best_is_complete_ = false;

  void add_start() {
    elements_.push_back({0, {}, {}});
    subsets_.push_back({0, 1, 0, 0, {}});
    wait(0);
  }

  double total(const LatticeCost &cost) const { return cost.total(options_.acoustic_scale); }

  void wait(uint32_t number) {
    const Subset &subset = subsets_[number];
    double estimate = kNoEnd.graph;
    for (size_t e = subset.begin; e < subset.end; ++e) {
      estimate = std::min(estimate, total(subset.cost + elements_[e].cost + prepared_.to_end[elements_[e].state]));
    }
    queue_.push({estimate, subset.frame, number});
  }

  void expand(uint32_t number) {
    const Subset subset = subsets_[number];
    step_.begin(&elements_[subset.begin], subset.end - subset.begin, pool_.data(), total(subset.cost));
    CompactLattice::End ending;
    ending.cost = step_.end_cost();
    if (is_end(ending.cost)) {
      ending.alignment.begin = transition_ids_.size();
      step_.append_end_ids(&transition_ids_);
      ending.alignment.size = static_cast<uint32_t>(transition_ids_.size() - ending.alignment.begin);
      if (total(subset.cost + ending.cost) <= prepared_.best) best_is_complete_ = true;
    }
    const size_t arcs_begin = arcs_.size();
    while (step_.next_word()) {
      const uint64_t ids_begin = transition_ids_.size();
      step_.append_ids(&transition_ids_);
      const uint32_t next = reach(subset);
      arcs_.push_back({next, step_.word(), step_.cost(), {ids_begin, step_.n_ids()}});
    }
    Subset &expanded = subsets_[number];
    expanded.expanded = true;
    expanded.ending = ending;
    expanded.arcs_begin = arcs_begin;
    expanded.arcs_end = arcs_.size();
  }

  // The subset that the step's current word leads to from `before`: a new one, unless it was reached before.
  uint32_t reach(const Subset &before) {
    Subset subset{elements_.size(), 0, 0, before.frame + step_.n_ids(), before.cost + step_.cost()};
    const size_t pool_begin = pool_.size();
    step_.append_elements(&elements_, &pool_);
    subset.end = elements_.size();
    subset.first_state = elements_[subset.begin].state;
    const uint64_t hash = hash_of(subset);
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto found = begin; found != end; ++found) {
      if (!same(subsets_[found->second], subset)) continue;
      elements_.resize(subset.begin);
      pool_.resize(pool_begin);
      Subset &known = subsets_[found->second];
      if (!known.expanded && total(subset.cost) < total(known.cost)) {
        known.cost = subset.cost;
        wait(found->second);
      }
      return found->second;
    }
    const auto number = static_cast<uint32_t>(subsets_.size());
    subsets_.push_back(subset);
    by_hash_.emplace(hash, number);
    wait(number);
    return number;
  }

  uint64_t hash_of(const Subset &subset) const {
    uint64_t hash = subset.frame;
    for (size_t e = subset.begin; e < subset.end; ++e) {
      const SubsetElement &element = elements_[e];
      hash = mix(mix(hash, element.state), std::hash<double>()(element.cost.graph));
      hash = mix(hash, std::hash<double>()(element.cost.acoustic));
      for (uint32_t i = 0; i < element.ids.size; ++i) hash = mix(hash, pool_[element.ids.begin + i]);
    }
    return hash;
  }

  bool same(const Subset &a, const Subset &b) const {
    if (a.frame != b.frame || a.end - a.begin != b.end - b.begin) return false;
    return std::equal(elements_.begin() + static_cast<ptrdiff_t>(a.begin), elements_.begin() + static_cast<ptrdiff_t>(a.end),
                      elements_.begin() + static_cast<ptrdiff_t>(b.begin),
                      [this](const SubsetElement &x, const SubsetElement &y) {
                        const uint32_t *ids_x = pool_.data() + x.ids.begin, *ids_y = pool_.data() + y.ids.begin;
                        return x.state == y.state && x.cost == y.cost && x.ids.size == y.ids.size &&
                               std::equal(ids_x, ids_x + x.ids.size, ids_y);
                      });
  }

  // The expanded subsets and the arcs between them. A word leads to higher lattice states, so the lowest state of a subset
  // puts it after all that lead to it.
  CompactLattice assemble() {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < subsets_.size(); ++i) {
      if (subsets_[i].expanded) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [this](uint32_t a, uint32_t b) { return subsets_[a].first_state < subsets_[b].first_state; });
    std::vector<uint32_t> numbers(subsets_.size());
    for (uint32_t n = 0; n < order.size(); ++n) numbers[order[n]] = n;

    CompactLattice lattice;
    for (const uint32_t i : order) {
      const Subset &subset = subsets_[i];
      for (size_t a = subset.arcs_begin; a < subset.arcs_end; ++a) {
        if (!subsets_[arcs_[a].next_state].expanded) continue;
        lattice.arcs.push_back(arcs_[a]);
        lattice.arcs.back().next_state = numbers[arcs_[a].next_state];
      }
      lattice.arc_begin.push_back(lattice.arcs.size());
      lattice.frames.push_back(subset.frame);
      lattice.ends.push_back(subset.ending);
    }
    lattice.transition_ids = std::move(transition_ids_);
    return lattice;
  }
};

}  // namespace

Determinised determinise(Lattice lattice, const DeterminiseOptions &options) {
  return Determiniser(std::move(lattice), options).run();
}

}  // namespace asr
