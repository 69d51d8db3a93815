// SPDX-License-Identifier: Apache-2.0
// SearchPath is a channel's best path on the host, for back ends whose trace is on a device. It has the path's listed
// arcs, and its cost, summed in double from the start. Settled steps, which all paths share, are added once, and their arcs
// are kept until they are given. The later steps, which the next frames may change, are added anew for every best path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/gpu/search/search_types.h"

namespace asr {

// The outcome of a search besides its path.
struct PathEnd {
  uint32_t n_frames;
  bool died, reached_final;
  float final_cost;  // 0 unless reached_final
  uint64_t n_tokens, n_arcs_expanded;
  uint32_t n_common;  // steps that have not settled and are on the paths of all tokens
};

class SearchPath {
 public:
  SearchPath(const asr_graph_view &view, float acoustic_scale, float word_insertion_cost)
      : view_(view), acoustic_scale_(acoustic_scale), word_insertion_cost_(word_insertion_cost) {}

  void settle(const PathStep *steps, size_t n_steps);
  // Gives the settled path, which leaves: later paths list the arcs after it.
  void give_settled(asr_path *path);
  // Fills the settled path and then `steps`, the last first, as asr_backend_api::best_paths defines it. The arcs are valid
  // until the next call.
  void give(const PathStep *steps, size_t n_steps, const PathEnd &end, asr_path *path);

 private:
  struct End {
    uint32_t n_frames = 0;
    size_t n_arcs = 0;  // of arcs_
    double cost = 0;
  };
  End path(const PathStep *steps, size_t n_steps);  // fills arcs_
  void append(const PathStep &step, End *end);

  const asr_graph_view &view_;
  const float acoustic_scale_, word_insertion_cost_;
  std::vector<asr_path_arc> arcs_;
  End settled_;
};

}  // namespace asr
