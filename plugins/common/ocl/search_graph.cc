// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/search_graph.h"

#include <algorithm>

#include "plugins/common/search_arcs.h"

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

}  // namespace

SearchGraph::SearchGraph(Device &device, const asr_graph_view &view)
    : ViewLatticeGraph(check_search_graph(view)),
      arcs_(make_on_device<SearchArc>(device, view.n_arcs, [&](size_t i) { return search_arc(view, i); })),
      begins_(make_on_device<ArcBegins>(device, view.n_states + size_t{1}, [&](size_t s) { return arc_begins(view, s); })),
      final_costs_(make_on_device<float>(device, view.n_states, [&](size_t s) { return view.final_costs[s]; })) {}

}  // namespace asr::ocl
