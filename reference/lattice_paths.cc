// SPDX-License-Identifier: Apache-2.0
// Enumerates paths, depth first.
#include <algorithm>
#include <cmath>

#include "reference/lattice.h"

namespace asr::reference {
namespace {

double cost_of(const asr_raw_arc &arc, const asr_search_options &options) {
  return double{arc.graph_cost} + (arc.word != 0 ? double{options.word_insertion_cost} : 0.0) +
         double{options.acoustic_scale} * double{arc.acoustic_cost};
}

// Enumerates all paths of a graph, depth first.
class GraphPaths {
 public:
  GraphPaths(const asr_graph_view &graph, const asr_search_options &options, const float *loglike, uint32_t n_frames,
             bool with_final, size_t limit)
      : graph_(graph), options_(options), loglike_(loglike), n_frames_(n_frames), with_final_(with_final), limit_(limit) {}

  std::vector<LatticePath> paths;

  bool walk(uint32_t state, uint32_t t) {
    const double final_cost = with_final_ ? double{graph_.final_costs[state]} : 0.0;
    if (t == n_frames_ && std::isfinite(final_cost)) paths.push_back({path_.arcs, path_.cost + final_cost});
    if (paths.size() > limit_ || ++n_steps_ > 100 * limit_) return false;
    for (uint32_t a = graph_.epsilon_begin[state]; a < graph_.epsilon_begin[state + 1]; ++a) {
      if (!step(graph_.arcs[a], 0.0f, t)) return false;
    }
    if (t == n_frames_) return true;
    for (uint32_t a = graph_.emitting_begin[state]; a < graph_.emitting_begin[state + 1]; ++a) {
      const float score = loglike_[size_t{t} * graph_.n_pdfs + graph_.pdf_of[graph_.arcs[a].transition_id]];
      if (!step(graph_.arcs[a], -score, t + 1)) return false;
    }
    return true;
  }

 private:
  bool step(const asr_graph_arc &arc, float acoustic_cost, uint32_t t) {
    const double cost = path_.cost;
    path_.arcs.push_back({0, arc.transition_id, arc.word, arc.graph_cost, acoustic_cost});
    path_.cost += cost_of(path_.arcs.back(), options_);
    const bool within_limit = walk(arc.next_state, t);
    path_.arcs.pop_back();
    path_.cost = cost;
    return within_limit;
  }

  const asr_graph_view &graph_;
  const asr_search_options options_;
  const float *const loglike_;
  const uint32_t n_frames_;
  const bool with_final_;
  const size_t limit_;
  size_t n_steps_ = 0;
  LatticePath path_{{}, 0};
};

bool walk_lattice(const RawLattice &lattice, const asr_search_options &options, size_t limit, uint32_t state, LatticePath &path,
                  std::vector<LatticePath> &paths) {
  if (std::isfinite(lattice.final_costs[state])) paths.push_back({path.arcs, path.cost + double{lattice.final_costs[state]}});
  if (paths.size() > limit) return false;
  for (uint64_t a = lattice.arc_begin[state]; a < lattice.arc_begin[state + 1]; ++a) {
    asr_raw_arc arc = lattice.arcs[a];
    const uint32_t next_state = arc.next_state;
    arc.next_state = 0;
    const double cost = path.cost;
    path.arcs.push_back(arc);
    path.cost += cost_of(arc, options);
    if (!walk_lattice(lattice, options, limit, next_state, path, paths)) return false;
    path.arcs.pop_back();
    path.cost = cost;
  }
  return true;
}

}  // namespace

std::optional<std::vector<LatticePath>> all_paths(const asr_graph_view &graph, const asr_search_options &options,
                                                  const float *loglike, uint32_t n_frames, bool use_final, size_t limit) {
  for (const bool with_final : {true, false}) {
    if (with_final && !use_final) continue;
    GraphPaths walker(graph, options, loglike, n_frames, with_final, limit);
    if (!walker.walk(graph.start_state, 0)) return std::nullopt;
    if (!walker.paths.empty() || !with_final) return walker.paths;
  }
  return std::nullopt;
}

std::optional<std::vector<LatticePath>> all_paths(const RawLattice &lattice, const asr_search_options &options, size_t limit) {
  LatticePath path{{}, 0};
  std::vector<LatticePath> paths;
  if (!walk_lattice(lattice, options, limit, 0, path, paths)) return std::nullopt;
  return paths;
}

}  // namespace asr::reference
