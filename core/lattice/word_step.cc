// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/word_step.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace asr {

WordStep::WordStep(const PreparedLattice &prepared, double acoustic_scale, uint32_t open, const Limits &limits)
    : prepared_(prepared),
      acoustic_scale_(acoustic_scale),
      open_(open),
      limits_(limits),
      visits_(prepared.lattice.n_states()),
      waiting_(prepared.lattice.n_states() / 64 + 1) {}

uint32_t WordStep::add_node(uint32_t before, uint32_t id) {
  if (id == 0) return before;
  nodes_.push_back({before, id, nodes_[before].depth + 1, 0});
  return static_cast<uint32_t>(nodes_.size() - 1);
}

// Returns less than, equal to or greater than 0, by the first difference of two chains with equally many ids.
int WordStep::compare_ids(uint32_t a, uint32_t id_a, uint32_t b, uint32_t id_b) {
  int order = 0;
  const auto take_last = [this](uint32_t *node, uint32_t *id) {
    if (*id != 0) return std::exchange(*id, 0);
    const Node &last = nodes_[*node];
    *node = last.before;
    return last.id;
  };
  for (; a != b || id_a != id_b; ++work_) {
    const uint32_t last_a = take_last(&a, &id_a), last_b = take_last(&b, &id_b);
    if (last_a != last_b) order = last_a < last_b ? -1 : 1;
  }
  return order;
}

bool WordStep::better(const Path &a, uint32_t id_a, const Path &b, uint32_t id_b) {
  if (a.total != b.total) return a.total < b.total;
  if (a.cost.graph != b.cost.graph) return a.cost.graph < b.cost.graph;
  return compare_ids(a.node, id_a, b.node, id_b) < 0;
}

void WordStep::visit(uint32_t state, const Path &path, uint32_t id) {
  Visit &visit = visits_[state];
  if (visit.round != round_) {
    waiting_[state / 64] |= uint64_t{1} << state % 64;
    ++n_waiting_;
  } else if (!better(path, id, visit.path, visit.id)) {
    return;
  }
  visit = {path, id, round_};
}

void WordStep::follow(uint32_t state) {
  const Lattice &lattice = prepared_.lattice;
  Visit &from = visits_[state];
  from.path.node = add_node(from.path.node, from.id);
  from.id = 0;
  if (state >= open_) {
    opened_.push_back({state, from.path});
    ++work_;
    return;
  }
  if (is_end(lattice.final_costs[state])) {
    const Path ended = path(from.path.cost + lattice.final_costs[state], from.path.node);
    if (ended.total <= limit_ && (!is_end(end_.path.cost) || better(ended, 0, end_.path, 0))) end_ = {state, ended};
  }
  const uint64_t words = prepared_.word_arc_begin[state], end = lattice.arc_begin[state + 1];
  const bool by_cost = prepared_.by_cost;
  const double most = by_cost ? std::min(limit_ - from.path.total, limits_.cost - prepared_.from_start[state]) : 0;
  uint64_t n_passed_over = 0;  // arcs that cost too much, by those before them
  for (uint64_t a = lattice.arc_begin[state]; a < end; ++a) {
    const LatticeArc &arc = lattice.arcs[a];
    Path next = path(from.path.cost + arc.cost, from.path.node);
    const double to_end = prepared_.total_to_end[arc.next_state];
    if (by_cost ? arc.cost.total(acoustic_scale_) + to_end > most : next.total + to_end > limit_) {
      if (!by_cost) continue;
      const uint64_t last = (a < words ? words : end) - 1;
      n_passed_over += last - a + 1;
      a = last;
      continue;
    }
    if (a < words) {
      visit(arc.next_state, next, arc.transition_id);
    } else {
      next.node = add_node(next.node, arc.transition_id);
      arcs_.push_back({arc.word, state, {arc.next_state, next}});
    }
  }
  work_ += 1 + end - lattice.arc_begin[state] - n_passed_over;
}

void WordStep::begin(const SubsetElement *elements, size_t n_elements, const uint32_t *pool, double beam, size_t max_bytes) {
  ++round_;
  nodes_.assign(1, {0, 0, 0, 0});
  mark_ = 0;
  arcs_.clear();
  opened_.clear();
  ran_out_ = false;
  size_t n_ids = 0;
  for (size_t e = 0; e < n_elements; ++e) n_ids += elements[e].ids.size;
  if (bytes_of(n_ids, 0) > max_bytes) {
    ran_out_ = true;
    return;
  }
  end_ = {0, path(kNoEnd, 0)};
  limit_ = kNoEnd.graph;
  for (size_t e = 0; e < n_elements; ++e) {
    const SubsetElement &element = elements[e];
    uint32_t node = 0;
    for (uint32_t i = 0; i < element.ids.size; ++i) node = add_node(node, pool[element.ids.begin + i]);
    const Path start = path(element.cost, node);
    limit_ = std::min(limit_, start.total + prepared_.total_to_end[element.state] + beam);
    visit(element.state, start, 0);
    work_ += element.ids.size;
  }
  follow_waiting(elements[0].state / 64, max_bytes);
  max_nodes_ = std::max(max_nodes_, nodes_.size());
  max_arcs_ = std::max(max_arcs_, arcs_.size());
  if (ran_out_) return;
  sort_arcs();
  first_ = last_ = 0;
  group_sources();
}

// Arcs lead to higher states, so a state's best path is known when its turn comes.
void WordStep::follow_waiting(size_t first_block, size_t max_bytes) {
  for (size_t block = first_block; n_waiting_ > 0; ++block) {
    while (waiting_[block] != 0) {
      const auto bit = static_cast<uint32_t>(__builtin_ctzll(waiting_[block]));
      waiting_[block] &= waiting_[block] - 1;
      --n_waiting_;
      if (!ran_out_) follow(static_cast<uint32_t>(block * 64) + bit);
    }
    limits_.stop.check();
    if (work_ > limits_.max_work || bytes_of(nodes_.size(), arcs_.size()) > max_bytes) ran_out_ = true;
  }
}

// Sorts by word and next state; of several arcs with the same pair, only the one on the best path stays.
void WordStep::sort_arcs() {
  const auto key = [](const WordArc &arc) {
    return std::tie(arc.word, arc.next.state, arc.next.path.total, arc.next.path.node);
  };
  std::sort(arcs_.begin(), arcs_.end(), [key](const WordArc &a, const WordArc &b) { return key(a) < key(b); });
  size_t n_kept = 0;
  for (const WordArc &arc : arcs_) {
    if (n_kept > 0 && arcs_[n_kept - 1].word == arc.word && arcs_[n_kept - 1].next.state == arc.next.state) {
      if (better(arc.next.path, 0, arcs_[n_kept - 1].next.path, 0)) arcs_[n_kept - 1] = arc;
    } else {
      arcs_[n_kept++] = arc;
    }
  }
  arcs_.resize(n_kept);
}

void WordStep::group_sources() {
  std::vector<uint32_t> states;
  if (is_end(end_.path.cost)) states.push_back(end_.state);
  for (const WordArc &arc : arcs_) states.push_back(arc.from);
  std::sort(states.begin(), states.end());
  states.erase(std::unique(states.begin(), states.end()), states.end());
  group_.clear();
  for (const uint32_t state : states) group_.push_back({state, visits_[state].path});
  if (!group_.empty()) find_common();
}

bool WordStep::next_word() {
  limits_.stop.check();
  first_ = last_;
  group_.clear();
  estimate_ = kNoEnd.graph;
  for (; last_ < arcs_.size() && arcs_[last_].word == arcs_[first_].word; ++last_) {
    const Reached &next = arcs_[last_].next;
    group_.push_back(next);
    estimate_ = std::min(estimate_, next.path.total + prepared_.total_to_end[next.state]);
  }
  if (group_.empty()) return false;
  find_common();
  return true;
}

// Computes the cost of the best path of the group, and the length of the common prefix of ids. A chain is compared with the
// first one only up to nodes that an earlier chain has passed.
void WordStep::find_common() {
  const auto best = std::min_element(group_.begin(), group_.end(), [](const Reached &a, const Reached &b) {
    return std::tie(a.path.total, a.path.cost.graph) < std::tie(b.path.total, b.path.cost.graph);
  });
  cost_ = best->path.cost;
  ++mark_;
  n_ids_ = nodes_[group_[0].path.node].depth;
  chain_.assign(n_ids_ + 1, 0);
  for (uint32_t node = group_[0].path.node; node != 0; node = nodes_[node].before) {
    chain_[nodes_[node].depth] = node;
    nodes_[node].mark = mark_;
  }
  work_ += n_ids_;
  for (const Reached &reached : group_) {
    uint32_t node = reached.path.node;
    n_ids_ = std::min(n_ids_, nodes_[node].depth);
    for (; nodes_[node].depth > n_ids_; ++work_) node = nodes_[node].before;
    for (; node != 0 && nodes_[node].mark != mark_; ++work_) {
      if (nodes_[node].id != nodes_[chain_[nodes_[node].depth]].id) n_ids_ = nodes_[node].depth - 1;
      nodes_[node].mark = mark_;
      node = nodes_[node].before;
    }
  }
}

// Appends the ids of a chain from the given depth on.
void WordStep::append_ids(uint32_t node, uint32_t from_depth, std::vector<uint32_t> *ids) const {
  const size_t begin = ids->size();
  for (; nodes_[node].depth > from_depth; node = nodes_[node].before) ids->push_back(nodes_[node].id);
  std::reverse(ids->begin() + static_cast<ptrdiff_t>(begin), ids->end());
}

double WordStep::open_estimate() const {
  double least = kNoEnd.graph;
  for (const Reached &open : opened_) least = std::min(least, open.path.total + prepared_.total_to_end[open.state]);
  return least;
}

double WordStep::word_estimate() const {
  double least = kNoEnd.graph;
  for (const WordArc &arc : arcs_) least = std::min(least, arc.next.path.total + prepared_.total_to_end[arc.next.state]);
  return least;
}

size_t WordStep::n_open_ids() const {
  size_t n = 0;
  for (const Reached &open : opened_) n += nodes_[open.path.node].depth;
  return n;
}

void WordStep::append_open_elements(std::vector<SubsetElement> *elements, std::vector<uint32_t> *pool) {
  work_ += opened_.size() + n_open_ids();
  for (const Reached &open : opened_) {
    elements->push_back({open.state, {pool->size(), nodes_[open.path.node].depth}, open.path.cost});
    append_ids(open.path.node, 0, pool);
  }
}

size_t WordStep::n_element_ids() const {
  size_t n = 0;
  for (const Reached &reached : group_) n += nodes_[reached.path.node].depth - n_ids_;
  return n;
}

void WordStep::append_elements(std::vector<SubsetElement> *elements, std::vector<uint32_t> *pool) {
  work_ += group_.size() + n_element_ids();
  for (const Reached &reached : group_) {
    const Alignment ids = {pool->size(), nodes_[reached.path.node].depth - n_ids_};
    append_ids(reached.path.node, n_ids_, pool);
    elements->push_back({reached.state, ids, reached.path.cost - cost_});
  }
}

}  // namespace asr
