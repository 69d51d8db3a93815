// SPDX-License-Identifier: Apache-2.0
// DeviceGraph is a graph that is searched on a device. All channels share its copy there: 16 bytes an arc, and 8 bytes a state
// for its first arcs and 4 for its final cost. Lattices read the arcs of the core's view. A back end's SearchGraph is derived
// from it.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/error.h"
#include "core/base/thread_pool.h"
#include "plugins/common/lattice_frames.h"
#include "plugins/common/state_set.h"
#include "plugins/gpu/search/begun_options.h"
#include "plugins/gpu/search/epsilon_ranks.h"
#include "plugins/gpu/search/search_types.h"

namespace asr {

// Throws if pdfs or arcs have numbers that SearchArc cannot hold.
inline const asr_graph_view &check_search_graph(const asr_graph_view &view) {
  if (view.n_pdfs <= kArcPdf && view.n_arcs < 0xffffffffu) return view;
  fail(ASR_UNSUPPORTED, "graph: %u pdfs or %llu arcs are more than the back ends of GPUs take", view.n_pdfs,
       static_cast<unsigned long long>(view.n_arcs));
}

template <typename Runtime>
class DeviceGraph : public LatticeGraph {
 public:
  template <typename T>
  using Array = typename Runtime::template DeviceArray<T>;

  // The view's arrays must outlive this. The copy is complete on return. `context`: arguments of the Runtime's arrays.
  template <typename... Context>
  DeviceGraph(const asr_graph_view &view, ThreadPool &pool, typename Runtime::Queue &queue, const Context &...context)
      : view_(check_search_graph(view)),
        pdfs_(view.n_pdfs),
        arcs_(context..., view.n_arcs),
        begins_(context..., view.n_states + size_t{1}),
        final_costs_(context..., view.n_states) {
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

  const Array<SearchArc> &arcs() const { return arcs_; }
  const Array<ArcBegins> &begins() const { return begins_; }  // [n_states + 1]
  const Array<float> &final_costs() const { return final_costs_; }
  const StateSet &pdfs() const { return pdfs_; }  // of its arcs
  BegunOptions &begun() const { return begun_; }

  const asr_graph_view &view() const { return view_; }
  uint32_t start_state() const override { return view_.start_state; }
  uint32_t next_state(size_t arc) const override { return view_.arcs[arc].next_state; }
  asr_graph_arc arc(uint32_t index) const override { return view_.arcs[index]; }
  void prefetch(size_t arc) const override { __builtin_prefetch(view_.arcs + arc); }
  uint32_t epsilon_rank(uint32_t state) const override { return epsilon_ranks()[state]; }
  const uint32_t *epsilon_ranks() const {  // [n_states]; nullptr if epsilon arcs make a cycle; the first call computes them
    std::call_once(ranked_, [this] { epsilon_ranks_ = asr::epsilon_ranks(*this); });
    return epsilon_ranks_.empty() ? nullptr : epsilon_ranks_.data();
  }

  // The functions that asr::epsilon_ranks needs.
  uint32_t n_states() const { return view_.n_states; }
  size_t n_arcs() const { return view_.n_arcs; }
  size_t n_emitting_arcs() const { return view_.emitting_begin[view_.n_states]; }
  uint32_t epsilon_begin(uint32_t state) const { return view_.epsilon_begin[state]; }
  uint32_t epsilon_end(uint32_t state) const { return view_.epsilon_begin[state + size_t{1}]; }

 private:
  SearchArc search_arc(size_t i) const {
    const asr_graph_arc &arc = view_.arcs[i];
    uint32_t label = arc.transition_id != 0 ? view_.pdf_of[arc.transition_id] : view_.n_pdfs;
    if (arc.word != 0) label |= kArcWord;
    if (epsilon_begin(arc.next_state) != epsilon_end(arc.next_state)) label |= kArcEpsilon;
    return {arc.next_state, label, arc.graph_cost, 0};
  }

  // Fills an array with the n elements that make(i) returns, a piece at a time, so that the host needs little memory.
  template <typename T, typename Make>
  static void fill(Array<T> &array, size_t n, ThreadPool &pool, typename Runtime::Queue &queue, const Make &make) {
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

  const asr_graph_view view_;
  StateSet pdfs_;
  Array<SearchArc> arcs_;
  Array<ArcBegins> begins_;
  Array<float> final_costs_;
  mutable BegunOptions begun_;
  mutable std::once_flag ranked_;
  mutable std::vector<uint32_t> epsilon_ranks_;  // [n_states]; empty if there is a cycle
};

}  // namespace asr
