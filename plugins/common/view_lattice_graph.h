// SPDX-License-Identifier: Apache-2.0
// ViewLatticeGraph reads a lattice's graph from the core's view, for back ends that search a copy of it on a device.
#pragma once

#include <mutex>
#include <vector>

#include "plugins/common/epsilon_ranks.h"
#include "plugins/common/lattice_frames.h"

namespace asr {

class ViewLatticeGraph : public LatticeGraph {
 public:
  explicit ViewLatticeGraph(const asr_graph_view &view) : view_(view) {}  // the view's arrays must outlive this

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
  const asr_graph_view view_;
  mutable std::once_flag ranked_;
  mutable std::vector<uint32_t> epsilon_ranks_;  // [n_states]; empty if there is a cycle
};

}  // namespace asr
