// SPDX-License-Identifier: Apache-2.0
// A graph's arcs as the GPUs' search reads them (kernels/search_types.h). Called by SearchGraph of the GPU back ends.
#pragma once

#include <cstddef>

#include "core/backend/asr_backend.h"
#include "core/base/error.h"
#include "plugins/common/kernels/search_types.h"

namespace asr {

// Throws where pdfs or arcs have numbers that these types cannot hold.
inline const asr_graph_view &check_search_graph(const asr_graph_view &view) {
  if (view.n_pdfs <= kArcPdf && view.n_arcs < 0xffffffffu) return view;
  fail(ASR_UNSUPPORTED, "graph: %u pdfs or %llu arcs are more than the back ends of GPUs take", view.n_pdfs,
       static_cast<unsigned long long>(view.n_arcs));
}

inline SearchArc search_arc(const asr_graph_view &view, size_t i) {
  const asr_graph_arc &arc = view.arcs[i];
  uint32_t label = arc.transition_id != 0 ? view.pdf_of[arc.transition_id] : view.n_pdfs;
  if (arc.word != 0) label |= kArcWord;
  if (view.epsilon_begin[arc.next_state] != view.epsilon_begin[arc.next_state + size_t{1}]) label |= kArcEpsilon;
  return {arc.next_state, label, arc.graph_cost, 0};
}

inline ArcBegins arc_begins(const asr_graph_view &view, size_t state) {
  return {view.emitting_begin[state], view.epsilon_begin[state]};
}

}  // namespace asr
