// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/oracle.h"

#include <gtest/gtest.h>

#include "tests/unit/lattice/small_lattice.h"

namespace asr {
namespace {

TEST(Oracle, IsTheBestOfAllPaths) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = test::random_lattice({2 + seed % 9, 4, 1.8, false, seed % 3 == 0}, random);
    std::vector<uint32_t> reference(random() % 7);
    for (uint32_t &word : reference) word = 1 + uint32_t(random() % 5);  // the lattice lacks word 5
    const auto paths = test::list_paths(lattice, 1);
    uint32_t least = 1000;
    for (const auto &path : paths) least = std::min(least, test::edit_distance(path.words, reference));
    const Oracle oracle = oracle_words(lattice, reference);
    EXPECT_EQ(oracle.n_errors, least) << seed;
    EXPECT_EQ(test::edit_distance(oracle.words, reference), least) << seed;
    const auto is_oracle = [&](const test::LatticePath &path) { return path.words == oracle.words; };
    EXPECT_TRUE(std::any_of(paths.begin(), paths.end(), is_oracle)) << seed;
  }
}

TEST(Oracle, OfNoPathIsNoWords) {
  const Oracle oracle = oracle_words({}, {1, 2, 3});
  EXPECT_EQ(oracle.n_errors, 3u);
  EXPECT_TRUE(oracle.words.empty());
}

TEST(LatticeSize, CountsFramesOfArcsAndEnds) {
  CompactLattice lattice;  // two words at once for 3 frames, then 2 frames of none
  lattice.transition_ids = {1, 1, 1, 2, 2, 2, 3, 3};
  lattice.frames = {0, 3};
  lattice.arcs = {{1, 1, {}, {0, 3}}, {1, 2, {}, {3, 3}}};
  lattice.arc_begin = {0, 2, 2};
  lattice.ends.resize(2);
  lattice.ends[1] = {{0, 0}, {6, 2}};
  LatticeSize size = lattice_size(lattice);
  EXPECT_EQ(size.n_frames, 5u);
  EXPECT_EQ(size.arc_frames, 8u);
  size += size;
  EXPECT_EQ(size.n_states, 4u);
  EXPECT_EQ(size.n_arcs, 4u);
  EXPECT_EQ(size.n_frames, 10u);
}

}  // namespace
}  // namespace asr
