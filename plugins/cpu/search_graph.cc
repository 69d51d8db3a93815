// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/search_graph.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr::cpu {

SearchGraph::SearchGraph(const asr_graph_view &view) : view_(view), arcs_(view.n_arcs), begins_(view.n_states + size_t{1}) {
  if (view.n_pdfs > SearchArc::kPdfMask) {
    fail(ASR_UNSUPPORTED, "graph: %u pdfs; the CPU back end takes up to %u", view.n_pdfs, SearchArc::kPdfMask);
  }
  for (size_t s = 0; s < begins_.size(); ++s) begins_[s] = {view.emitting_begin[s], view.epsilon_begin[s]};
  for (size_t i = 0; i < arcs_.size(); ++i) {
    const asr_graph_arc &arc = view.arcs[i];
    uint32_t label = arc.transition_id != 0 ? view.pdf_of[arc.transition_id] : view.n_pdfs;
    if (arc.word != 0) label |= SearchArc::kWord;
    if (epsilon_begin(arc.next_state) != epsilon_end(arc.next_state)) label |= SearchArc::kEpsilon;
    arcs_[i] = {arc.next_state, label, arc.graph_cost};
  }
}

const uint32_t *SearchGraph::epsilon_ranks() const {
  std::call_once(ranked_, [this] { rank_epsilons(); });
  return epsilon_ranks_.empty() ? nullptr : epsilon_ranks_.data();
}

// States in an order in which arcs lead on: a state is next when the arcs into it have been followed.
void SearchGraph::rank_epsilons() const {
  const SearchArc *const first = arcs_.data();
  std::vector<uint32_t> n_arcs_into(view_.n_states), ranks(view_.n_states), next;
  for (size_t a = n_emitting_arcs(); a < arcs_.size(); ++a) ++n_arcs_into[first[a].next_state];
  for (uint32_t s = 0; s < view_.n_states; ++s) {
    if (n_arcs_into[s] == 0 && epsilon_begin(s) != epsilon_end(s)) next.push_back(s);
  }
  size_t n_followed = 0;
  while (!next.empty()) {
    const uint32_t state = next.back();
    next.pop_back();
    for (uint32_t a = epsilon_begin(state); a < epsilon_end(state); ++a) {
      const uint32_t to = first[a].next_state;
      ranks[to] = std::max(ranks[to], ranks[state] + 1);
      if (--n_arcs_into[to] == 0) next.push_back(to);
      ++n_followed;
    }
  }
  if (n_followed == arcs_.size() - n_emitting_arcs()) epsilon_ranks_ = std::move(ranks);
}

std::unique_ptr<SearchScratch> SearchGraph::take_scratch() const {
  {
    std::lock_guard lock(mutex_);
    if (!scratch_.empty()) {
      std::unique_ptr<SearchScratch> scratch = std::move(scratch_.back());
      scratch_.pop_back();
      return scratch;
    }
    scratch_.reserve(scratch_.capacity() + 1);  // so that giving back cannot fail
  }
  auto scratch = std::make_unique<SearchScratch>();
  scratch->slot_of = MappedArray<uint32_t>(view_.n_states);
  scratch->loglike.resize(view_.n_pdfs + size_t{1});
  scratch->acoustic_cost.resize(view_.n_pdfs);
  return scratch;
}

void SearchGraph::give_scratch(std::unique_ptr<SearchScratch> scratch) const {
  std::lock_guard lock(mutex_);
  scratch_.push_back(std::move(scratch));
}

}  // namespace asr::cpu
