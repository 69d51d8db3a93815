// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/determinise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/unit/lattice/determinised.h"
#include "tests/unit/lattice/random_state_lattice.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_pruned;
using test::expect_same_paths;
using test::expect_well_formed;
using test::kScale;

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

// Any limit of work gives a result as promised, and enough work gives the whole lattice.
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

TEST(Determinise, LittleMemoryGivesANarrowBeam) {
  for (uint32_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    test::StateLatticeShape shape;
    shape.ties = seed % 3 == 0;
    std::mt19937 random(seed);
    const Lattice lattice = test::random_state_lattice(shape, random);
    double beam = -1;
    for (size_t bytes = 0; beam < 6; bytes = bytes * 5 / 4 + 100) {
      const Determinised result = determinise(lattice, {kScale, 6, uint64_t{1} << 28, bytes});
      EXPECT_GE(result.beam, beam);
      beam = result.beam;
      expect_well_formed(result.lattice);
      expect_same_paths(lattice, result.lattice, beam);
      test::expect_best_path(lattice, result.lattice);
      ASSERT_LT(bytes, size_t{1} << 24);
    }
  }
}

TEST(Determinise, NothingComesOfNothing) {
  EXPECT_EQ(determinise({}, {kScale, 8}).lattice.n_states(), 0u);
  Lattice lattice;  // a state without an end
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
