// SPDX-License-Identifier: Apache-2.0
// Invariants of every result of determinise().
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/lattice/prune.h"
#include "reference/determinise.h"

namespace asr::test {

inline constexpr double kScale = 0.1;
inline constexpr double kTolerance = 1e-6;

// Expects the invariants that hold for any lattice.
inline void expect_well_formed(const CompactLattice &lattice) {
  const uint32_t n = lattice.n_states();
  ASSERT_EQ(lattice.arc_begin.size(), size_t{n} + 1);
  ASSERT_EQ(lattice.ends.size(), n);
  const BestCosts costs = best_costs(lattice, kScale);
  for (uint32_t s = 0; s < n; ++s) {
    EXPECT_TRUE(std::isfinite(costs.from_start[s] + costs.to_end[s])) << "state " << s << " is on no path";
    std::vector<bool> seen(100);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      ASSERT_GT(arc.next_state, s);
      ASSERT_LT(arc.next_state, n);
      ASSERT_NE(arc.word, 0u);
      EXPECT_FALSE(seen[arc.word]);
      seen[arc.word] = true;
      EXPECT_EQ(lattice.frames[arc.next_state], lattice.frames[s] + arc.alignment.size);
    }
  }
}

// Compares the paths of `result` with those found by enumeration. Arcs within the beam can form paths outside it: their costs
// are those of some path with the same words.
inline void expect_same_paths(const Lattice &lattice, const CompactLattice &result, double beam) {
  const auto wanted = reference::determinise(lattice, kScale, beam - kTolerance, 1e-9);
  const auto all = reference::determinise(lattice, kScale, 1e9, 1e-9);
  std::map<std::vector<uint32_t>, reference::WordSequencePath> found;
  for (const auto &[words, path] : reference::all_paths(result)) {
    EXPECT_TRUE(found.emplace(words, path).second) << "a word sequence has two paths";
    const auto expected = wanted.find(words);
    if (expected == wanted.end()) {
      ASSERT_TRUE(all.count(words)) << "words that no path has";
      EXPECT_GE(path.cost.total(kScale), all.at(words).cost.total(kScale) - kTolerance);
      continue;
    }
    EXPECT_NEAR(path.cost.graph, expected->second.cost.graph, kTolerance);
    EXPECT_NEAR(path.cost.acoustic, expected->second.cost.acoustic, kTolerance);
    EXPECT_EQ(path.transition_ids, expected->second.transition_ids);
  }
  for (const auto &entry : wanted) EXPECT_TRUE(found.count(entry.first)) << "a word sequence is missing";
}

// Expects the best path, with the words, alignment and costs of a best path.
inline void expect_best_path(const Lattice &lattice, const CompactLattice &result) {
  const auto all = reference::determinise(lattice, kScale, 1e9, 1e-9);
  double least = kNoEnd.graph, found = kNoEnd.graph;
  for (const auto &entry : all) least = std::min(least, entry.second.cost.total(kScale));
  for (const auto &[words, path] : reference::all_paths(result)) {
    ASSERT_TRUE(all.count(words)) << "words that no path has";
    found = std::min(found, path.cost.total(kScale));
    EXPECT_EQ(path.transition_ids.size(), all.at(words).transition_ids.size());
  }
  EXPECT_NEAR(found, least, kTolerance);
}

// Expects every arc and end to lie on a path within the beam.
inline void expect_pruned(const CompactLattice &lattice, double beam) {
  const BestCosts costs = best_costs(lattice, kScale);
  const double limit = costs.best() + beam + kTolerance;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    const double end = lattice.ends[s].cost.total(kScale);
    EXPECT_TRUE(std::isinf(end) || costs.from_start[s] + end <= limit);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      EXPECT_LE(costs.from_start[s] + arc.cost.total(kScale) + costs.to_end[arc.next_state], limit);
    }
  }
}

}  // namespace asr::test
