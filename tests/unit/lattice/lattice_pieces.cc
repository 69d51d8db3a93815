// SPDX-License-Identifier: Apache-2.0
// Compares PieceDeterminiser with determinise() by definition, on random lattices cut at random frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/lattice/determinise.h"
#include "tests/unit/lattice/determinised.h"
#include "tests/unit/lattice/lattice_cuts.h"
#include "tests/unit/lattice/random_state_lattice.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::first_of_frame;
using test::kScale;
using test::piece_of;

// Cuts a lattice at random frames. The smaller `share`, the lower are the known extra costs.
Determinised in_pieces(const Lattice &lattice, const DeterminiseOptions &options, double share, std::mt19937 &random) {
  const std::vector<double> extra = test::extra_costs(lattice, kScale);
  PieceDeterminiser pieces(options);
  uint32_t begin = 0;
  for (uint32_t frame = 1; frame < lattice.frames.back(); ++frame) {
    if (random() % 2 == 0) continue;
    Lattice piece = piece_of(lattice, begin, frame);
    const uint32_t first = first_of_frame(lattice, begin);
    for (uint32_t s = first_of_frame(piece, frame); s < piece.n_states(); ++s) {
      piece.final_costs[s] = {std::min(share * extra[first + s], 1e6), 0};
    }
    pieces.add(std::move(piece));
    begin = frame;
  }
  return pieces.finish(piece_of(lattice, begin, lattice.frames.back()));
}

void compare_with_reference(test::StateLatticeShape shape, double beam, double share, uint32_t n_seeds) {
  shape.end_share = 0;
  for (uint32_t seed = 0; seed < n_seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Lattice lattice = test::random_state_lattice(shape, random);
    const Determinised result = in_pieces(lattice, {kScale, beam}, share, random);
    EXPECT_EQ(result.beam, beam);
    test::expect_well_formed(result.lattice);
    test::expect_pruned(result.lattice, beam);
    test::expect_same_paths(lattice, result.lattice, beam);
  }
}

TEST(LatticePieces, HaveTheBestPathOfEveryWordSequence) { compare_with_reference({}, 4, 1, 2000); }

TEST(LatticePieces, LittleIsKnownOfWhatFollows) { compare_with_reference({}, 3, 0.2, 1000); }

TEST(LatticePieces, NothingIsKnownOfWhatFollows) { compare_with_reference({}, 2, 0, 1000); }

TEST(LatticePieces, WithoutPruning) { compare_with_reference({}, 1000, 1, 1000); }

TEST(LatticePieces, EqualCostsAreDecidedByAlignments) {
  test::StateLatticeShape shape;
  shape.ties = true;
  compare_with_reference(shape, 3, 1, 1000);
}

TEST(LatticePieces, FewWords) {
  test::StateLatticeShape shape;
  shape.n_frames = 8;
  shape.word_share = 0.15;
  compare_with_reference(shape, 5, 0.5, 500);
}

TEST(LatticePieces, ManyArcsWithoutFrames) {
  test::StateLatticeShape shape;
  shape.n_frames = 3;
  shape.states_per_frame = 4;
  shape.epsilon_share = 0.6;
  compare_with_reference(shape, 5, 0.5, 1000);
}

// Wherever memory runs out, earlier results stay, and the best path goes on from there.
TEST(LatticePieces, LittleMemoryGivesANarrowBeam) {
  test::StateLatticeShape shape;
  shape.n_frames = 7;
  shape.end_share = 0;
  size_t n_narrow = 0, n_wide = 0;
  for (uint32_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    shape.ties = seed % 3 == 0;
    std::mt19937 random(seed);
    const Lattice lattice = test::random_state_lattice(shape, random);
    for (size_t bytes = 0; bytes < 200000; bytes = bytes * 3 / 2 + 500) {
      SCOPED_TRACE(testing::Message() << seed << ", " << bytes << " bytes");
      const Determinised result = in_pieces(lattice, {kScale, 4, uint64_t{1} << 28, bytes}, 1, random);
      (result.beam < 4 ? n_narrow : n_wide) += 1;
      test::expect_well_formed(result.lattice);
      test::expect_same_paths(lattice, result.lattice, result.beam);
      test::expect_best_path(lattice, result.lattice);
    }
  }
  EXPECT_GT(n_narrow, 1000u);
  EXPECT_GT(n_wide, 1000u);
}

// With long pieces, few states occur twice.
TEST(LatticePieces, AddFewStates) {
  test::StateLatticeShape shape;
  shape.n_frames = 300;
  shape.states_per_frame = 3;
  shape.n_words = 90;
  shape.n_transition_ids = 50;
  shape.end_share = 0;
  size_t n_whole = 0, n_pieces = 0;
  for (uint32_t seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    const Lattice lattice = test::random_state_lattice(shape, random);
    n_whole += determinise(lattice, {kScale, 3}).lattice.n_states();
    n_pieces += in_pieces(lattice, {kScale, 3}, 1, random).lattice.n_states();
  }
  EXPECT_GT(n_whole, 1000u);
  EXPECT_LT(static_cast<double>(n_pieces), 1.1 * static_cast<double>(n_whole));
}

TEST(LatticePieces, OnePieceIsTheWhole) {
  std::mt19937 random(1);
  const Lattice lattice = test::random_state_lattice({}, random);
  const CompactLattice whole = determinise(lattice, {kScale, 4}).lattice,
                       one = PieceDeterminiser({kScale, 4}).finish(lattice).lattice;
  EXPECT_EQ(one.arc_begin, whole.arc_begin);
  EXPECT_EQ(one.transition_ids, whole.transition_ids);
}

TEST(LatticePieces, ThatDoNotFitAreRefused) {
  std::mt19937 random(2);
  test::StateLatticeShape shape;
  shape.states_per_frame = 3;
  const Lattice lattice = test::random_state_lattice(shape, random);
  const Lattice first = piece_of(lattice, 0, 2), second = piece_of(lattice, 3, 5);
  PieceDeterminiser pieces({kScale, 4});
  test::expect_error([&] { PieceDeterminiser({kScale, 4}).add(second); }, ASR_INVALID_ARGUMENT, "damaged");
  pieces.add(first);
  test::expect_error([&] { pieces.finish(second); }, ASR_INVALID_ARGUMENT, "damaged");
  test::expect_error([&] { PieceDeterminiser({kScale, -1}); }, ASR_INVALID_ARGUMENT, "lattice_beam");
}

}  // namespace
}  // namespace asr
