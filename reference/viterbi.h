// SPDX-License-Identifier: Apache-2.0
// Two slow decoders to compare back ends with. One finds the best of all paths in double precision. The other is the
// pruned search of docs/search.md, step by step in its prescribed float arithmetic.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr::reference {

struct SearchResult {
  std::vector<asr_path_arc> arcs;
  uint32_t n_frames = 0;
  bool reached_final = false, beam_died = false;
  double total_cost = 0;
  uint64_t n_tokens = 0, n_arcs_expanded = 0;
};

// The least cost of any path over loglike[n_frames][n_pdfs]. The path ends in a final state, with its cost; if none is
// reachable or use_final is false, in any state. +infinity if no path is that long.
struct BestCost {
  double cost;
  bool reached_final;
};
BestCost best_cost(const asr_graph_view &graph, const asr_search_options &options, const float *loglike, uint32_t n_frames,
                   bool use_final);

// Returns, after frame `first` (0: before the first) and each one that follows, the number of first arcs of the best path that
// are on the path of every token.
std::vector<uint64_t> common_arcs(const asr_graph_view &graph, const asr_search_options &options, const float *loglike,
                                  uint32_t n_frames, uint32_t first = 0);

// Returns the states whose tokens were cut because their paths did not join the best one, by the frame that ended with it.
std::map<uint32_t, std::set<uint32_t>> cut_states(const asr_graph_view &graph, const asr_search_options &options,
                                                  const float *loglike, uint32_t n_frames);

SearchResult pruned_search(const asr_graph_view &graph, const asr_search_options &options, const float *loglike,
                           uint32_t n_frames, bool use_final);

}  // namespace asr::reference
