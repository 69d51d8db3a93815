// SPDX-License-Identifier: Apache-2.0
// Two slow lattice algorithms to compare back ends with. One follows "The lattice" of docs/search.md step by step, keeping
// every token and link of all frames. The other enumerates every path of a small graph in double precision.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr::reference {

// An asr_raw_lattice that owns its arrays.
struct RawLattice {
  std::vector<uint64_t> arc_begin;
  std::vector<asr_raw_arc> arcs;
  std::vector<uint32_t> frames;
  std::vector<float> final_costs;
  uint32_t n_frames = 0;
  bool reached_final = false, beam_died = false;
};

inline RawLattice copy_of(const asr_raw_lattice &raw) {
  return {{raw.arc_begin, raw.arc_begin + raw.n_states + 1},
          {raw.arcs, raw.arcs + raw.n_arcs},
          {raw.frames, raw.frames + raw.n_states},
          {raw.final_costs, raw.final_costs + raw.n_states},
          raw.n_frames,
          raw.reached_final != 0,
          raw.beam_died != 0};
}

inline bool same_arc(const asr_raw_arc &a, const asr_raw_arc &b) {
  return a.next_state == b.next_state && a.transition_id == b.transition_id && a.word == b.word &&
         a.graph_cost == b.graph_cost && a.acoustic_cost == b.acoustic_cost;
}

// Returns, for each state, the number of arcs of the longest path of epsilon arcs that ends there; nothing if there is a cycle.
std::optional<std::vector<uint32_t>> epsilon_ranks(const asr_graph_view &graph);

// Computes the lattice; the graph must have no cycle of epsilon arcs.
RawLattice lattice(const asr_graph_view &graph, const asr_search_options &options, const float *loglike, uint32_t n_frames,
                   bool use_final);

// Computes the same in pieces ("Pieces" in docs/search.md), with the lattice of the rest last. n_frames and flags are set in
// the last one.
std::vector<RawLattice> lattice_pieces(const asr_graph_view &graph, const asr_search_options &options, const float *loglike,
                                       uint32_t n_frames, bool use_final);

// A complete path: its arcs and the sum of graph, word insertion, scaled acoustic and final costs.
struct LatticePath {
  std::vector<asr_raw_arc> arcs;  // next_state is not set
  double cost;
};

// Returns all paths over loglike[n_frames][n_pdfs] of a graph without a cycle of epsilon arcs. Paths end in final states with
// their costs; if there are none or use_final is false, in any state. Nothing if there are more than `limit`.
std::optional<std::vector<LatticePath>> all_paths(const asr_graph_view &graph, const asr_search_options &options,
                                                  const float *loglike, uint32_t n_frames, bool use_final, size_t limit);

// Returns all paths of a lattice; nothing if there are more than `limit`.
std::optional<std::vector<LatticePath>> all_paths(const RawLattice &lattice, const asr_search_options &options, size_t limit);

}  // namespace asr::reference
