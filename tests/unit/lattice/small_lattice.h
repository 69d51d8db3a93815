// SPDX-License-Identifier: Apache-2.0
// Small random lattices and the list of all their paths, for comparison with results computed without listing.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "core/lattice/lattice.h"

namespace asr::test {

struct LatticeShape {
  uint32_t n_states = 8, n_words = 4;  // words 1 ... n_words
  double arcs = 2;                     // average per state
  bool tree = false;                   // no two arcs into one state
  bool silent_arcs = false;            // arcs with word 0, as in some files
};

// Makes a lattice connected from the start on and, without silent arcs, with one path per word sequence. Each state's arcs
// consume some frames.
inline CompactLattice random_lattice(const LatticeShape &shape, std::mt19937 &random) {
  const auto below = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
  const auto cost = [&] { return double(below(4000)) / 1000 - 1; };
  std::vector<std::map<uint32_t, uint32_t>> next_of(shape.n_states);  // key: word
  const auto add = [&](uint32_t from, uint32_t to) {
    return next_of[from].emplace(shape.silent_arcs ? below(shape.n_words + 1) : 1 + below(shape.n_words), to).second;
  };
  for (uint32_t s = 1; s < shape.n_states; ++s) {
    while (!add(below(s), s)) {
    }
  }
  for (auto n = static_cast<uint32_t>(shape.tree ? 0 : std::max(0.0, (shape.arcs - 1) * shape.n_states)); n > 0; --n) {
    const uint32_t s = below(shape.n_states - 1);
    add(s, s + 1 + below(shape.n_states - 1 - s));
  }
  CompactLattice lattice;
  for (uint32_t s = 0; s < shape.n_states; ++s) {
    lattice.frames.push_back(4 * s);
    for (const auto &[word, next] : next_of[s]) {
      const Alignment alignment{lattice.transition_ids.size(), 4 * (next - s)};
      lattice.transition_ids.resize(lattice.transition_ids.size() + alignment.size, word);
      lattice.arcs.push_back({next, word, {cost(), 10 * cost()}, alignment});
    }
    lattice.arc_begin.push_back(lattice.arcs.size());
    CompactLattice::End end;
    if (next_of[s].empty() || below(4) == 0) end.cost = {cost(), 10 * cost()};
    lattice.ends.push_back(end);
  }
  return lattice;
}

struct LatticePath {
  std::vector<uint32_t> words;
  std::vector<uint64_t> arcs;
  uint32_t end = 0;  // state
  LatticeCost cost;
  double posterior = 0;
};

inline void list_paths_from(const CompactLattice &lattice, uint32_t s, const LatticePath &path,
                            std::vector<LatticePath> *paths) {
  if (is_end(lattice.ends[s].cost)) {
    paths->push_back(path);
    paths->back().end = s;
    paths->back().cost = path.cost + lattice.ends[s].cost;
  }
  for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
    LatticePath longer = path;
    if (lattice.arcs[a].word != 0) longer.words.push_back(lattice.arcs[a].word);
    longer.arcs.push_back(a);
    longer.cost = path.cost + lattice.arcs[a].cost;
    list_paths_from(lattice, lattice.arcs[a].next_state, longer, paths);
  }
}

inline std::vector<LatticePath> list_paths(const CompactLattice &lattice, double acoustic_scale) {
  std::vector<LatticePath> paths;
  if (lattice.n_states() > 0) list_paths_from(lattice, 0, {}, &paths);
  double sum = 0;
  for (LatticePath &path : paths) sum += path.posterior = std::exp(-path.cost.total(acoustic_scale));
  for (LatticePath &path : paths) path.posterior /= sum;
  return paths;
}

// Returns the least number of substitutions, deletions and insertions that turn one into the other.
inline uint32_t edit_distance(const std::vector<uint32_t> &a, const std::vector<uint32_t> &b) {
  std::vector<uint32_t> row(b.size() + 1);
  for (uint32_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (uint32_t i = 1; i <= a.size(); ++i) {
    uint32_t diagonal = row[0];
    row[0] = i;
    for (uint32_t j = 1; j <= b.size(); ++j) {
      const uint32_t pair = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({pair, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace asr::test
