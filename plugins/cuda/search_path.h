// SPDX-License-Identifier: Apache-2.0
// A channel's best path on the host: the arcs that are told of it, and its cost, summed in double from the start. What all
// paths share is added for good; the rest, which the next frames may change, is added anew for every best path.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/cuda/kernels/search.h"

namespace asr::cuda {

class SearchPath {
 public:
  SearchPath(const asr_graph_view &view, float acoustic_scale, float word_insertion_cost)
      : view_(view), acoustic_scale_(acoustic_scale), word_insertion_cost_(word_insertion_cost) {}

  void settle(const TraceStep *steps, size_t n_steps);
  // The settled path and then `steps`, the last first. Returns the cost.
  double path(const TraceStep *steps, size_t n_steps);
  const std::vector<asr_path_arc> &arcs() const { return arcs_; }

 private:
  struct End {
    uint32_t n_frames = 0;
    size_t n_arcs = 0;
    double cost = 0;
  };
  void append(const TraceStep &step, End *end);

  const asr_graph_view &view_;
  const float acoustic_scale_, word_insertion_cost_;
  std::vector<asr_path_arc> arcs_;
  End settled_;
};

}  // namespace asr::cuda
