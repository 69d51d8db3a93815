// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/search_graph.h"

#include <algorithm>
#include <cstddef>

#include "core/base/error.h"
#include "plugins/common/epsilon_ranks.h"

namespace asr::cpu {

SearchGraph::SearchGraph(const asr_graph_view &view)
    : n_states_(view.n_states),
      start_state_(view.start_state),
      n_pdfs_(view.n_pdfs),
      arcs_(view.n_arcs),
      begins_(view.n_states + size_t{1}),
      final_costs_(view.n_states) {
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
  std::copy_n(view.final_costs, n_states_, final_costs_.data());
  add_transition_ids(view);
  add_words(view);
  const bool tells = view.size > offsetof(asr_graph_view, arrays_in_use) && view.arrays_in_use != nullptr;
  if (tells) *view.arrays_in_use = 0;
}

void SearchGraph::add_transition_ids(const asr_graph_view &view) {
  first_id_.assign(view.n_pdfs + size_t{1}, 0);
  for (uint32_t id = 1; id <= view.n_transition_ids; ++id) ++first_id_[view.pdf_of[id] + size_t{1}];
  for (uint32_t pdf = 0; pdf < view.n_pdfs; ++pdf) {
    if (first_id_[pdf + size_t{1}] > UINT16_MAX) {
      fail(ASR_UNSUPPORTED, "graph: pdf %u has %u transition-ids; the CPU back end takes up to %u", pdf,
           first_id_[pdf + size_t{1}], UINT16_MAX);
    }
    first_id_[pdf + size_t{1}] += first_id_[pdf];
  }
  ids_by_pdf_.resize(view.n_transition_ids);
  std::vector<uint32_t> next(first_id_), place(view.n_transition_ids + size_t{1});
  for (uint32_t id = 1; id <= view.n_transition_ids; ++id) {
    const uint32_t pdf = view.pdf_of[id];
    place[id] = next[pdf] - first_id_[pdf];
    ids_by_pdf_[next[pdf]++] = id;
  }
  id_of_arc_ = MappedArray<uint16_t>(n_emitting_arcs());
  for (size_t i = 0; i < id_of_arc_.size(); ++i) id_of_arc_[i] = static_cast<uint16_t>(place[view.arcs[i].transition_id]);
}

void SearchGraph::add_words(const asr_graph_view &view) {
  first_word_of_block_.reserve(arcs_.size() / kWordBlock + 1);
  for (size_t i = 0; i < arcs_.size(); ++i) {
    if (i % kWordBlock == 0) first_word_of_block_.push_back(static_cast<uint32_t>(words_.size()));
    if (view.arcs[i].word != 0) words_.push_back(view.arcs[i].word);
  }
  words_.shrink_to_fit();
}

asr_graph_arc SearchGraph::arc(uint32_t index) const {
  const SearchArc &arc = arcs_[index];
  asr_graph_arc found{arc.next_state, 0, 0, arc.graph_cost};
  if (index < n_emitting_arcs()) {
    found.transition_id = ids_by_pdf_[first_id_[arc.label & SearchArc::kPdfMask] + id_of_arc_[index]];
  }
  if ((arc.label & SearchArc::kWord) != 0) {
    uint32_t word = first_word_of_block_[index / kWordBlock];
    for (uint32_t i = index - index % kWordBlock; i < index; ++i) word += arcs_[i].label / SearchArc::kWord;
    found.word = words_[word];
  }
  return found;
}

const uint32_t *SearchGraph::epsilon_ranks() const {
  std::call_once(ranked_, [this] { epsilon_ranks_ = asr::epsilon_ranks(*this); });
  return epsilon_ranks_.empty() ? nullptr : epsilon_ranks_.data();
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
  scratch->slot_of = MappedArray<uint32_t>(n_states_);
  scratch->loglike.resize(n_pdfs_ + size_t{1});
  scratch->acoustic_cost.resize(n_pdfs_);
  return scratch;
}

void SearchGraph::give_scratch(std::unique_ptr<SearchScratch> scratch) const {
  std::lock_guard lock(mutex_);
  scratch_.push_back(std::move(scratch));
}

}  // namespace asr::cpu
