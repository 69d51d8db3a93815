// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search_graph.h"

#include <algorithm>

#include "plugins/common/search_arcs.h"

namespace asr::cuda {
namespace {

constexpr size_t kPieceElements = size_t{1} << 20;  // repacked and copied at a time, so that the host needs little memory

// n elements made by make(i), on the device.
template <typename T, typename Make>
DeviceArray<T> make_on_device(size_t n, ThreadPool &pool, const Make &make) {
  constexpr size_t kTaskElements = size_t{1} << 14;
  DeviceArray<T> array(n);
  std::vector<T> piece(std::min(n, kPieceElements));
  for (size_t first = 0; first < n; first += kPieceElements) {
    const size_t n_piece = std::min(kPieceElements, n - first);
    pool.run((n_piece + kTaskElements - 1) / kTaskElements, [&](size_t task) {
      const size_t end = std::min((task + 1) * kTaskElements, n_piece);
      for (size_t i = task * kTaskElements; i < end; ++i) piece[i] = make(first + i);
    });
    check(cudaMemcpy(array.data() + first, piece.data(), n_piece * sizeof(T), cudaMemcpyHostToDevice),
          "copying a graph to the device");
  }
  return array;
}

}  // namespace

SearchGraph::SearchGraph(Device &device, const asr_graph_view &view) : ViewLatticeGraph(check_search_graph(view)) {
  arcs_ = make_on_device<SearchArc>(view.n_arcs, device.pool(), [&](size_t i) { return search_arc(view, i); });
  begins_ = make_on_device<ArcBegins>(view.n_states + size_t{1}, device.pool(), [&](size_t s) { return arc_begins(view, s); });
  final_costs_ = make_on_device<float>(view.n_states, device.pool(), [&](size_t s) { return view.final_costs[s]; });
}

SearchTables SearchGraph::tables() const { return {arcs_.data(), begins_.data(), final_costs_.data(), view().start_state}; }

}  // namespace asr::cuda
