// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/search/search_graph.h"

#include <algorithm>
#include <atomic>

#include "core/base/error.h"

namespace asr::gpu {
namespace {

// Throws if pdfs or arcs have numbers that SearchArc cannot hold.
const asr_graph_view &checked(const asr_graph_view &view) {
  if (view.n_pdfs <= kArcPdf && view.n_arcs < 0xffffffffu) return view;
  fail(ASR_UNSUPPORTED, "graph: %u pdfs or %llu arcs are more than the back ends of GPUs take", view.n_pdfs,
       static_cast<unsigned long long>(view.n_arcs));
}

// Fills an array with the n elements that make(i) returns, a piece at a time, so that the host needs little memory.
template <typename T, typename Make>
void fill(Array<T> &array, size_t n, ThreadPool &pool, Queue &queue, const Make &make) {
  constexpr size_t kPieceElements = size_t{1} << 20, kTaskElements = size_t{1} << 14;
  std::vector<T> piece(std::min(n, kPieceElements));
  for (size_t first = 0; first < n; first += kPieceElements) {
    const size_t n_piece = std::min(kPieceElements, n - first);
    pool.run((n_piece + kTaskElements - 1) / kTaskElements, [&](size_t task) {
      const size_t end = std::min((task + 1) * kTaskElements, n_piece);
      for (size_t i = task * kTaskElements; i < end; ++i) piece[i] = make(first + i);
    });
    queue.write(array, first, piece.data(), n_piece);
    queue.finish();
  }
}

}  // namespace

SearchGraph::SearchGraph(Device &device, const asr_graph_view &view)
    : view_(checked(view)),
      pdfs_(view.n_pdfs),
      arcs_(device.context(), view.n_arcs),
      begins_(device.context(), view.n_states + size_t{1}),
      final_costs_(device.context(), view.n_states) {
  ThreadPool &pool = device.pool();
  Queue queue(device.context());
  std::vector<std::atomic<bool>> has_arcs(view.n_transition_ids + size_t{1});
  fill<SearchArc>(arcs_, view.n_arcs, pool, queue, [&](size_t i) {
    std::atomic<bool> &has = has_arcs[view.arcs[i].transition_id];
    if (!has.load(std::memory_order_relaxed)) has.store(true, std::memory_order_relaxed);
    return search_arc(i);
  });
  for (uint32_t id = 1; id <= view.n_transition_ids; ++id) {
    if (has_arcs[id]) pdfs_.add(view.pdf_of[id]);
  }
  fill<ArcBegins>(begins_, view.n_states + size_t{1}, pool, queue, [&](size_t s) {
    return ArcBegins{view.emitting_begin[s], view.epsilon_begin[s]};
  });
  fill<float>(final_costs_, view.n_states, pool, queue, [&](size_t s) { return view.final_costs[s]; });
}

SearchArc SearchGraph::search_arc(size_t i) const {
  const asr_graph_arc &arc = view_.arcs[i];
  uint32_t label = arc.transition_id != 0 ? view_.pdf_of[arc.transition_id] : view_.n_pdfs;
  if (arc.word != 0) label |= kArcWord;
  if (epsilon_begin(arc.next_state) != epsilon_end(arc.next_state)) label |= kArcEpsilon;
  return {arc.next_state, label, arc.graph_cost, 0};
}

}  // namespace asr::gpu
