// SPDX-License-Identifier: Apache-2.0
// Compares n-best and pruning with all paths of small lattices.
#include "core/lattice/nbest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/base/limits.h"
#include "core/lattice/determinise.h"
#include "core/lattice/prune.h"
#include "reference/determinise.h"
#include "tests/unit/lattice/allocated.h"
#include "tests/unit/lattice/random_state_lattice.h"
#include "tests/unit/lattice/small_lattice.h"

namespace asr {
namespace {

constexpr double kScale = 0.1;
constexpr double kTolerance = 1e-6;

class Paths : public testing::Test {
 protected:
  CompactLattice lattice_;
  std::vector<double> totals_;  // [paths], ascending

  // Makes the lattice of a seed and all its paths.
  void make(uint32_t seed) {
    std::mt19937 random(seed);
    test::StateLatticeShape shape;
    shape.ties = seed % 2 == 1;
    lattice_ = determinise(test::random_state_lattice(shape, random), {kScale, 100}).lattice;
    totals_.clear();
    for (const auto &[words, path] : reference::all_paths(lattice_)) totals_.push_back(path.cost.total(kScale));
    std::sort(totals_.begin(), totals_.end());
  }
};

TEST_F(Paths, ComeInTheOrderOfTheirCosts) {
  for (uint32_t seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    make(seed);
    const std::vector<LatticePath> paths = n_best_paths(lattice_, kScale, totals_.size() + 5);
    ASSERT_EQ(paths.size(), totals_.size());
    std::vector<std::vector<uint32_t>> words;
    for (size_t i = 0; i < paths.size(); ++i) {
      EXPECT_NEAR(paths[i].cost.total(kScale), totals_[i], kTolerance);
      EXPECT_EQ(paths[i].word_frames.size(), paths[i].words.size());
      words.push_back(paths[i].words);
    }
    std::sort(words.begin(), words.end());
    EXPECT_TRUE(std::unique(words.begin(), words.end()) == words.end());
  }
}

TEST_F(Paths, OfFewAreTheFirstOfMany) {
  for (uint32_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    make(seed);
    const std::vector<LatticePath> many = n_best_paths(lattice_, kScale, 10), few = n_best_paths(lattice_, kScale, 3);
    ASSERT_EQ(few.size(), std::min<size_t>(3, many.size()));
    for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].transition_ids, many[i].transition_ids);
    EXPECT_EQ(best_path(lattice_, kScale).words, few.at(0).words);
  }
}

TEST_F(Paths, WithinABeamAreTheFirstOfAll) {
  for (uint32_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    make(seed);
    const std::vector<LatticePath> all = n_best_paths(lattice_, kScale, totals_.size());
    const std::vector<LatticePath> near = n_best_paths(lattice_, kScale, totals_.size(), 1.5);
    const double limit = all.at(0).cost.total(kScale) + 1.5;
    size_t n = 0;
    while (n < all.size() && all[n].cost.total(kScale) <= limit) ++n;
    ASSERT_EQ(near.size(), n);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(near[i].transition_ids, all[i].transition_ids);
  }
}

// A chain of states with many arcs each: only ways that can be among the n best are kept.
TEST(NBest, TakesMemoryForThoseWanted) {
  CompactLattice lattice;
  const uint32_t n_words = 500, n_ways = 50;
  for (uint32_t s = 0; s < n_words; ++s) {
    lattice.frames.push_back(s);
    for (uint32_t w = 1; w <= n_ways; ++w) lattice.arcs.push_back({s + 1, w, {0.25 * w, 0}, {}});
    lattice.arc_begin.push_back(lattice.arcs.size());
  }
  lattice.frames.push_back(n_words);
  lattice.arc_begin.push_back(lattice.arcs.size());
  lattice.ends.resize(n_words + 1);
  lattice.ends[n_words].cost = {0, 0};
  const test::PeakMemory peak;
  const std::vector<LatticePath> paths = n_best_paths(lattice, 1, 500);
  ASSERT_EQ(paths.size(), 500u);
  EXPECT_EQ(paths.back().cost.graph, 125.25);
  EXPECT_LT(peak.bytes(), size_t{32} << 20);  // all ways would take 800 MB
}

TEST_F(Paths, OfNothing) {
  EXPECT_TRUE(n_best_paths({}, kScale, 5).empty());
  EXPECT_TRUE(best_path({}, kScale).words.empty());
}

TEST(CostOfWords, IsThatOfTheCheapestPath) {
  for (uint32_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    test::LatticeShape shape;
    shape.silent_arcs = seed % 2 == 1;
    const CompactLattice lattice = test::random_lattice(shape, random);
    std::map<std::vector<uint32_t>, double> least;
    for (const test::LatticePath &path : test::list_paths(lattice, kScale)) {
      const double total = path.cost.total(kScale);
      const auto [found, is_new] = least.emplace(path.words, total);
      if (!is_new) found->second = std::min(found->second, total);
    }
    uint64_t n_steps = UINT64_MAX;
    for (const auto &[words, total] : least) {
      EXPECT_NEAR(cost_of_words(lattice, words, kScale, &n_steps).value_or(-1000), total, kTolerance);
      std::vector<uint32_t> longer = words;
      longer.push_back(shape.n_words);
      EXPECT_EQ(cost_of_words(lattice, longer, kScale, &n_steps).has_value(), least.count(longer) == 1);
    }
  }
  uint64_t n_steps = 100;
  EXPECT_FALSE(cost_of_words({}, {}, kScale, &n_steps).has_value());
  std::mt19937 random(1);
  const CompactLattice lattice = test::random_lattice({}, random);
  const std::vector<uint32_t> words = best_path(lattice, kScale).words;
  n_steps = lattice.n_states() + 1;
  EXPECT_FALSE(cost_of_words(lattice, words, kScale, &n_steps).has_value());
  EXPECT_EQ(n_steps, 0u);
}

// A chain of two arcs at each of 15,000 places: ten thousand paths would take 9.6 GB. The paths found are the same as without.
TEST(NBest, TakesBoundedMemory) {
  CompactLattice lattice;
  constexpr uint32_t kPlaces = 15000;
  for (uint32_t place = 0; place < kPlaces; ++place) {
    for (const uint32_t word : {1u, 2u}) {
      CompactArc arc{};
      arc.next_state = place + 1, arc.word = word, arc.cost.graph = word == 1 ? 0 : 1 + 1e-3 * place;
      lattice.arcs.push_back(arc);
    }
    lattice.arc_begin.push_back(lattice.arcs.size());
    lattice.frames.push_back(place);
    lattice.ends.emplace_back();
  }
  lattice.arc_begin.push_back(lattice.arcs.size());
  lattice.frames.push_back(kPlaces);
  lattice.ends.emplace_back();
  lattice.ends.back().cost = {};
  const std::vector<LatticePath> paths = n_best_paths(lattice, kScale, 10000);
  EXPECT_GT(paths.size(), 100u);
  EXPECT_LT(paths.size() * kPlaces * 64, kMaxPathBytes + 2 * kPlaces * 64);
  for (size_t i = 1; i < 50; ++i) EXPECT_NEAR(paths[i].cost.graph, 1 + 1e-3 * double(i - 1), 1e-6);
  size_t n = 0;
  EXPECT_FALSE(visit_best_paths(lattice, kScale, 10000, 1e9, [&](const LatticePath &) { return ++n < 5; }));
  EXPECT_EQ(n, 5u);
}

TEST_F(Paths, WithinTheBeamSurvivePruning) {
  for (uint32_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    make(seed);
    const double beam = 2;
    const CompactLattice pruned = prune(lattice_, kScale, beam);
    std::vector<double> totals;
    for (const auto &[words, path] : reference::all_paths(pruned)) totals.push_back(path.cost.total(kScale));
    std::sort(totals.begin(), totals.end());
    const auto within = [&](double more) {
      return static_cast<size_t>(std::upper_bound(totals_.begin(), totals_.end(), totals_[0] + beam + more) - totals_.begin());
    };
    ASSERT_GE(totals.size(), within(-kTolerance));
    for (size_t i = 0; i < within(-kTolerance); ++i) EXPECT_NEAR(totals[i], totals_[i], kTolerance);
    const BestCosts costs = best_costs(pruned, kScale);
    for (uint32_t s = 0; s < pruned.n_states(); ++s) {
      EXPECT_LE(costs.from_start[s] + costs.to_end[s], totals_[0] + beam + kTolerance);
    }
  }
}

}  // namespace
}  // namespace asr
