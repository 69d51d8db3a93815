// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/determinise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/lattice/prune.h"
#include "tests/reference/determinise.h"
#include "tests/unit/lattice/random_state_lattice.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

constexpr double kScale = 0.1;
constexpr double kTolerance = 1e-6;

// What every result must be, whatever the lattice.
void expect_well_formed(const CompactLattice &lattice) {
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

// The paths of `result` against those found by trying all. Arcs within the beam can make up paths outside: their costs are
// those of some path with the same words.
void expect_same_paths(const Lattice &lattice, const CompactLattice &result, double beam) {
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

// Every arc and end lies on a path within the beam.
void expect_pruned(const CompactLattice &lattice, double beam) {
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

void compare_with_reference(const test::StateLatticeShape &shape, double beam, uint32_t n_seeds) {
  for (uint32_t seed = 0; seed < n_seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Lattice lattice = test::random_state_lattice(shape, random);
    const Determinised result = determinise(lattice, {kScale, beam});
    EXPECT_EQ(result.beam, beam);
    expect_well_formed(result.lattice);
    expect_pruned(result.lattice, beam);
    expect_same_paths(lattice, result.lattice, beam);
  }
}

TEST(Determinise, FindsTheBestPathOfEveryWordSequence) { compare_with_reference({}, 4, 4000); }

TEST(Determinise, WithoutPruning) { compare_with_reference({}, 1000, 2000); }

TEST(Determinise, TheBestAlone) { compare_with_reference({}, 0, 500); }

TEST(Determinise, EqualCostsAreDecidedByAlignments) {
  test::StateLatticeShape shape;
  shape.ties = true;
  compare_with_reference(shape, 3, 2000);
}

TEST(Determinise, ManyWaysToSayTheSame) {
  test::StateLatticeShape shape;
  shape.n_frames = 7;
  shape.n_words = 1;
  shape.word_share = 0.25;
  compare_with_reference(shape, 6, 1000);
}

TEST(Determinise, ManyArcsWithoutFrames) {
  test::StateLatticeShape shape;
  shape.n_frames = 2;
  shape.states_per_frame = 4;
  shape.epsilon_share = 0.6;
  compare_with_reference(shape, 5, 2000);
}

// Every prefix of the work gives what it says, and with enough of it the whole.
TEST(Determinise, LittleWorkGivesANarrowBeam) {
  for (uint32_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    test::StateLatticeShape shape;
    shape.ties = seed % 3 == 0;
    std::mt19937 random(seed);
    const Lattice lattice = test::random_state_lattice(shape, random);
    double beam = -1;
    for (uint64_t work = 0; beam < 6; work = 2 * work + 10) {
      const Determinised result = determinise(lattice, {kScale, 6, work});
      EXPECT_GE(result.beam, beam);
      beam = result.beam;
      expect_well_formed(result.lattice);
      expect_same_paths(lattice, result.lattice, beam);
      EXPECT_GT(result.lattice.n_states(), 0u);
      ASSERT_LT(work, 1000000u);
    }
  }
}

TEST(Determinise, NothingComesOfNothing) {
  EXPECT_EQ(determinise({}, {kScale, 8}).lattice.n_states(), 0u);
  Lattice lattice;  // a state that is no end
  lattice.arc_begin = {0, 0};
  lattice.frames = {0};
  lattice.final_costs = {kNoEnd};
  EXPECT_EQ(determinise(lattice, {kScale, 8}).lattice.n_states(), 0u);
  lattice.final_costs = {{0.5, 0}};
  const CompactLattice one = determinise(lattice, {kScale, 8}).lattice;
  ASSERT_EQ(one.n_states(), 1u);
  EXPECT_EQ(one.ends[0].cost.graph, 0.5);
}

TEST(Determinise, RefusesBrokenLattices) {
  std::mt19937 random(3);
  const Lattice good = test::random_state_lattice({}, random);
  const auto expect_refused = [&](const std::function<void(Lattice &)> &breakage) {
    Lattice lattice = good;
    breakage(lattice);
    test::expect_error([&] { determinise(lattice, {kScale, 8}); }, ASR_INVALID_ARGUMENT, "damaged");
  };
  expect_refused([](Lattice &l) { l.arcs[0].next_state = 0; });
  expect_refused([](Lattice &l) { l.arcs[0].next_state = l.n_states(); });
  expect_refused([](Lattice &l) { l.frames[l.n_states() - 1] = 1; });
  expect_refused([](Lattice &l) { l.arc_begin[1] = l.arcs.size() + 1; });
  expect_refused([](Lattice &l) { l.final_costs.pop_back(); });
  test::expect_error([&] { determinise(good, {kScale, -1}); }, ASR_INVALID_ARGUMENT, "lattice_beam");
  test::expect_error([&] { determinise(good, {NAN, 8}); }, ASR_INVALID_ARGUMENT, "acoustic_scale");
}

}  // namespace
}  // namespace asr
