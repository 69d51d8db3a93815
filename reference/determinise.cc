// SPDX-License-Identifier: Apache-2.0
#include "reference/determinise.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace asr::reference {
namespace {

using Words = std::vector<uint32_t>;

}  // namespace

std::map<Words, WordSequencePath> determinise(const Lattice &lattice, double acoustic_scale, double lattice_beam, double same) {
  std::map<Words, WordSequencePath> best_of;
  double best = kNoEnd.graph;
  const auto consider = [&](const Words &words, const WordSequencePath &path) {
    best = std::min(best, path.cost.total(acoustic_scale));
    const auto [found, is_new] = best_of.emplace(words, path);
    if (is_new) return;
    const double more = path.cost.total(acoustic_scale) - found->second.cost.total(acoustic_scale);
    const double more_graph = path.cost.graph - found->second.cost.graph;
    const bool better = std::fabs(more) > same         ? more < 0
                        : std::fabs(more_graph) > same ? more_graph < 0
                                                       : path.transition_ids < found->second.transition_ids;
    if (better) found->second = path;
  };
  using Visit = std::function<void(uint32_t, const Words &, const WordSequencePath &)>;
  const Visit visit = [&](uint32_t state, const Words &words, const WordSequencePath &path) {
    if (is_end(lattice.final_costs[state])) {
      consider(words, {path.cost + lattice.final_costs[state], path.transition_ids});
    }
    for (uint64_t a = lattice.arc_begin[state]; a < lattice.arc_begin[state + 1]; ++a) {
      const LatticeArc &arc = lattice.arcs[a];
      Words next_words = words;
      WordSequencePath next = path;
      next.cost = next.cost + arc.cost;
      if (arc.word != 0) next_words.push_back(arc.word);
      if (arc.transition_id != 0) next.transition_ids.push_back(arc.transition_id);
      visit(arc.next_state, next_words, next);
    }
  };
  if (lattice.n_states() > 0) visit(0, {}, {});

  for (auto entry = best_of.begin(); entry != best_of.end();) {
    entry = entry->second.cost.total(acoustic_scale) > best + lattice_beam ? best_of.erase(entry) : std::next(entry);
  }
  return best_of;
}

std::vector<std::pair<Words, WordSequencePath>> all_paths(const CompactLattice &lattice) {
  std::vector<std::pair<Words, WordSequencePath>> paths;
  const auto append_ids = [&](const Alignment &alignment, WordSequencePath *path) {
    const uint32_t *ids = lattice.begin(alignment);
    path->transition_ids.insert(path->transition_ids.end(), ids, ids + alignment.size);
  };
  using Visit = std::function<void(uint32_t, const Words &, const WordSequencePath &)>;
  const Visit visit = [&](uint32_t state, const Words &words, const WordSequencePath &path) {
    const CompactLattice::End &end = lattice.ends[state];
    if (is_end(end.cost)) {
      WordSequencePath ended = path;
      ended.cost = ended.cost + end.cost;
      append_ids(end.alignment, &ended);
      paths.emplace_back(words, ended);
    }
    for (uint64_t a = lattice.arc_begin[state]; a < lattice.arc_begin[state + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      Words next_words = words;
      WordSequencePath next = path;
      next.cost = next.cost + arc.cost;
      if (arc.word != 0) next_words.push_back(arc.word);
      append_ids(arc.alignment, &next);
      visit(arc.next_state, next_words, next);
    }
  };
  if (lattice.n_states() > 0) visit(0, {}, {});
  return paths;
}

}  // namespace asr::reference
