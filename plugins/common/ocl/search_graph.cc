// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/search_graph.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/common/epsilon_ranks.h"

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
    queue.write(array.get(), first * sizeof(T), piece.data(), n_piece * sizeof(T));
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

// What asr::epsilon_ranks asks of a graph.
struct ViewOfEpsilons {
  const asr_graph_view &view;

  uint32_t n_states() const { return view.n_states; }
  size_t n_arcs() const { return view.n_arcs; }
  size_t n_emitting_arcs() const { return view.emitting_begin[view.n_states]; }
  uint32_t next_state(size_t arc) const { return view.arcs[arc].next_state; }
  uint32_t epsilon_begin(uint32_t state) const { return view.epsilon_begin[state]; }
  uint32_t epsilon_end(uint32_t state) const { return view.epsilon_begin[state + size_t{1}]; }
};

}  // namespace

SearchGraph::SearchGraph(Device &device, const asr_graph_view &view)
    : view_(checked(view)),
      arcs_(make_on_device<SearchArc>(device, view.n_arcs, [&](size_t i) { return arc_of(view, view.arcs[i]); })),
      begins_(make_on_device<SearchBegins>(device, view.n_states + size_t{1},
                                           [&](size_t s) {
                                             return SearchBegins{view.emitting_begin[s], view.epsilon_begin[s]};
                                           })),
      final_costs_(make_on_device<float>(device, view.n_states, [&](size_t s) { return view.final_costs[s]; })) {}

const uint32_t *SearchGraph::epsilon_ranks() const {
  std::call_once(ranked_, [this] { epsilon_ranks_ = asr::epsilon_ranks(ViewOfEpsilons{view_}); });
  return epsilon_ranks_.empty() ? nullptr : epsilon_ranks_.data();
}

}  // namespace asr::ocl
