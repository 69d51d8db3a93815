// SPDX-License-Identifier: Apache-2.0
// SearchGraph is a graph that is searched on a device. All channels share its copy there: 16 bytes an arc, and 8 bytes a state
// for its first arcs and 4 for its final cost. Lattices read the arcs of the core's view.
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
#include "runtime/device.h"

namespace asr::gpu {

class SearchGraph : public LatticeGraph {
 public:
  // The view's arrays must outlive this. The copy is complete on return.
  SearchGraph(Device &device, const asr_graph_view &view);

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
  SearchArc search_arc(size_t i) const;

  const asr_graph_view view_;
  StateSet pdfs_;
  Array<SearchArc> arcs_;
  Array<ArcBegins> begins_;
  Array<float> final_costs_;
  mutable BegunOptions begun_;
  mutable std::once_flag ranked_;
  mutable std::vector<uint32_t> epsilon_ranks_;  // [n_states]; empty if there is a cycle
};

}  // namespace asr::gpu
