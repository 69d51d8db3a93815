// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/search_graph.h"

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
