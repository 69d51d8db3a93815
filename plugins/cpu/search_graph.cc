// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/search_graph.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr::cpu {
namespace {

void check_labels(uint32_t n_pdfs) {
  constexpr uint32_t kMost = PackedArc::kToEpsilons - 1;
  if (n_pdfs > kMost) fail(ASR_UNSUPPORTED, "graph: %u pdfs; the CPU back end takes up to %u", n_pdfs, kMost);
}

StateSet pdfs_of(const asr_packed_graph &graph) {
  StateSet pdfs(graph.n_pdfs);
  for (uint32_t id = 1; id <= graph.n_transition_ids; ++id) pdfs.add(graph.pdf_of[id]);
  return pdfs;
}

// Calls call(place, record) for every state.
template <typename Call>
void for_each_state(const asr_packed_graph &graph, Call call) {
  for (uint64_t place = 0; place < graph.n_units; place += graph.units_of(static_cast<uint32_t>(place))) {
    call(static_cast<uint32_t>(place), graph.state(static_cast<uint32_t>(place)));
  }
}

}  // namespace

SearchGraph::SearchGraph(const asr_packed_graph &packed)
    : packed_(packed), pdf_mask_(packed.pdf_mask()), pdfs_(pdfs_of(packed)) {
  check_labels(packed.n_pdfs);
}

SearchGraph::SearchGraph(const asr_graph_view &view) : packed_{}, pdfs_(view.n_pdfs) {
  check_labels(view.n_pdfs);
  own_ = pack_graph(view);
  own_records_ = MappedArray<uint32_t>(own_.records.size());
  std::copy(own_.records.begin(), own_.records.end(), own_records_.data());
  own_.records = {};
  own_pdf_of_.assign(view.pdf_of, view.pdf_of + view.n_transition_ids + 1);
  packed_.n_states = view.n_states;
  packed_.start_state = own_.start_state;
  packed_.n_transition_ids = view.n_transition_ids;
  packed_.n_pdfs = view.n_pdfs;
  packed_.n_arcs = view.n_arcs;
  packed_.n_emitting_arcs = view.emitting_begin[view.n_states];
  packed_.n_units = static_cast<uint32_t>(own_records_.size());
  packed_.n_costs = static_cast<uint32_t>(own_.costs.size());
  packed_.n_classes = static_cast<uint32_t>(own_.classes.size());
  packed_.n_other_ids = static_cast<uint32_t>(own_.other_ids.size());
  packed_.costs = own_.costs.data();
  packed_.classes = own_.classes.data();
  packed_.other_ids = own_.other_ids.data();
  packed_.first_records = own_.first_records.data();
  packed_.records = own_records_.data();
  packed_.pdf_of = own_pdf_of_.data();
  pdf_mask_ = packed_.pdf_mask();
  pdfs_ = pdfs_of(packed_);
}

// Visits states in topological order of epsilon arcs: a state is next when all arcs into it have been followed.
SearchGraph::EpsilonRanks::EpsilonRanks(const asr_packed_graph &graph) : states(graph.n_units) {
  for_each_state(graph, [&](uint32_t place, const StateRecord &record) {
    if ((record.header & StateRecord::kEnteredByEpsilon) != 0) states.mark(place);
  });
  ranks.resize(states.count());
  PagedVector<uint32_t> n_arcs_into(ranks.size()), next;
  for_each_state(graph, [&](uint32_t place, const StateRecord &record) {
    for (const PackedArc *arc = record.last_emitting(); arc != record.last_arc(); ++arc) {
      ++n_arcs_into[states.number_of(arc->next)];
    }
    if (record.n_epsilon > 0 && !states.contains(place)) next.push_back(place);
  });
  uint64_t n_followed = 0;
  while (!next.empty()) {
    const uint32_t place = next.back();
    next.pop_back();
    const uint32_t rank = states.contains(place) ? ranks[states.number_of(place)] : 0;
    const StateRecord record = graph.state(place);
    for (const PackedArc *arc = record.last_emitting(); arc != record.last_arc(); ++arc) {
      const uint32_t to = states.number_of(arc->next);
      ranks[to] = std::max(ranks[to], rank + 1);
      if (--n_arcs_into[to] == 0) next.push_back(arc->next);
      ++n_followed;
    }
  }
  found = n_followed == graph.n_arcs - graph.n_emitting_arcs;
}

bool SearchGraph::makes_lattices() const {
  std::call_once(ranked_, [this] { epsilon_ranks_.emplace(packed_); });
  return epsilon_ranks_->found;
}

uint32_t SearchGraph::epsilon_rank(uint32_t place) const {
  if ((packed_.records[place] & StateRecord::kEnteredByEpsilon) == 0) return 0;
  return epsilon_ranks_->ranks[epsilon_ranks_->states.number_of(place)];
}

std::unique_ptr<SearchScratch> SearchGraph::take_scratch() const {
  {
    std::lock_guard lock(mutex_);
    if (!scratch_.empty()) {
      std::unique_ptr<SearchScratch> scratch = std::move(scratch_.back());
      scratch_.pop_back();
      return scratch;
    }
    scratch_.reserve(scratch_.capacity() + 1);  // so that give_scratch cannot fail
  }
  auto scratch = std::make_unique<SearchScratch>();
  scratch->loglike.resize(packed_.n_pdfs + size_t{1});
  scratch->acoustic_cost.resize(packed_.n_pdfs);
  return scratch;
}

void SearchGraph::give_scratch(std::unique_ptr<SearchScratch> scratch) const {
  std::lock_guard lock(mutex_);
  scratch_.push_back(std::move(scratch));
}

}  // namespace asr::cpu
