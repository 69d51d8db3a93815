// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/search_graph.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr::ocl {
namespace {

constexpr size_t kPieceElements = size_t{1} << 20;  // repacked and copied at a time, so that the host needs little memory

// n elements made by make(i), on the device.
template <typename T, typename Make>
DeviceArray<T> make_on_device(Device &device, size_t n, const Make &make) {
  constexpr size_t kTaskElements = size_t{1} << 14;
  DeviceArray<T> array(device.context(), n);
  std::vector<T> piece(std::min(n, kPieceElements));
  Queue &queue = device.context().at_once();
  for (size_t first = 0; first < n; first += kPieceElements) {
    const size_t n_piece = std::min(kPieceElements, n - first);
    device.pool().run((n_piece + kTaskElements - 1) / kTaskElements, [&](size_t task) {
      const size_t end = std::min((task + 1) * kTaskElements, n_piece);
      for (size_t i = task * kTaskElements; i < end; ++i) piece[i] = make(first + i);
    });
    queue.write(array, first, piece.data(), n_piece);
    queue.finish();
  }
  return array;
}

const asr_graph_view &checked(const asr_graph_view &view) {
  if (view.n_pdfs <= SEARCH_ARC_PDF && view.n_arcs < 0xffffffffu) return view;
  fail(ASR_UNSUPPORTED, "graph: %u pdfs or %llu arcs are more than the OpenCL back ends take", view.n_pdfs,
       static_cast<unsigned long long>(view.n_arcs));
}

SearchArc arc_of(const asr_graph_view &view, const asr_graph_arc &arc) {
  uint32_t label = arc.transition_id != 0 ? view.pdf_of[arc.transition_id] : view.n_pdfs;
  if (arc.word != 0) label |= SEARCH_ARC_WORD;
  if (view.epsilon_begin[arc.next_state] != view.epsilon_begin[arc.next_state + size_t{1}]) label |= SEARCH_ARC_EPSILON;
  return {arc.next_state, label, arc.graph_cost, 0};
}

}  // namespace

SearchGraph::SearchGraph(Device &device, const asr_graph_view &view)
    : ViewLatticeGraph(checked(view)),
      arcs_(make_on_device<SearchArc>(device, view.n_arcs, [&](size_t i) { return arc_of(view, view.arcs[i]); })),
      begins_(make_on_device<SearchBegins>(device, view.n_states + size_t{1},
                                           [&](size_t s) {
                                             return SearchBegins{view.emitting_begin[s], view.epsilon_begin[s]};
                                           })),
      final_costs_(make_on_device<float>(device, view.n_states, [&](size_t s) { return view.final_costs[s]; })) {}

}  // namespace asr::ocl
