// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/posteriors.h"

#include <gtest/gtest.h>

#include "tests/unit/lattice/small_lattice.h"

namespace asr {
namespace {

TEST(Posteriors, AreSharesOfAllPaths) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = test::random_lattice({2 + seed % 8, 3, 2, false, seed % 3 == 0}, random);
    const double acoustic_scale = seed % 2 == 0 ? 0.1 : 1;
    std::vector<double> arcs(lattice.arcs.size()), states(lattice.n_states()), ends(lattice.n_states());
    double sum = 0;
    for (const test::LatticePath &path : test::list_paths(lattice, acoustic_scale)) {
      sum += std::exp(-path.cost.total(acoustic_scale));
      states[0] += path.posterior;
      for (const uint64_t a : path.arcs) {
        arcs[a] += path.posterior;
        states[lattice.arcs[a].next_state] += path.posterior;
      }
      ends[path.end] += path.posterior;
    }
    const LatticePosteriors posteriors = lattice_posteriors(lattice, acoustic_scale);
    EXPECT_NEAR(posteriors.log_sum, std::log(sum), 1e-9) << seed;
    for (size_t a = 0; a < arcs.size(); ++a) EXPECT_NEAR(posteriors.arcs[a], arcs[a], 1e-9) << seed << " arc " << a;
    for (size_t s = 0; s < states.size(); ++s) {
      EXPECT_NEAR(posteriors.states[s], states[s], 1e-9) << seed << " state " << s;
      EXPECT_NEAR(posteriors.ends[s], ends[s], 1e-9) << seed << " end " << s;
    }
  }
}

TEST(Posteriors, KeepTheirPrecisionAtLargeCosts) {
  std::mt19937 random(1);
  CompactLattice lattice = test::random_lattice({}, random);
  const LatticePosteriors small = lattice_posteriors(lattice, 0.1);
  for (CompactLattice::End &end : lattice.ends) end.cost.acoustic += 1e7;  // as for an hour of audio
  const LatticePosteriors large = lattice_posteriors(lattice, 0.1);
  for (size_t a = 0; a < lattice.arcs.size(); ++a) EXPECT_NEAR(large.arcs[a], small.arcs[a], 1e-8);
}

// For any costs: shares are 0 to 1, and no path is lost.
TEST(Posteriors, AreSharesAtCostsOfAnySize) {
  for (unsigned seed = 0; seed < 1000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    CompactLattice lattice = test::random_lattice({2 + seed % 12, 3, 2.5, false, seed % 3 == 0}, random);
    const auto change = [&](LatticeCost *cost) {
      const double size = std::pow(10.0, random() % 309);
      if (random() % 3 == 0) cost->graph *= size;
      if (random() % 3 == 0) cost->acoustic = std::clamp(cost->acoustic * size, -1.7e308, 1.7e308);
    };
    for (CompactArc &arc : lattice.arcs) change(&arc.cost);
    for (CompactLattice::End &end : lattice.ends) {
      if (is_end(end.cost)) change(&end.cost);
    }
    const LatticePosteriors posteriors = lattice_posteriors(lattice, seed % 2 == 0 ? 0.1 : 10);
    const auto expect_share = [](double posterior) { EXPECT_TRUE(posterior >= 0 && posterior <= 1) << posterior; };
    double ended = 0;
    std::vector<double> into(lattice.n_states());
    into[0] = 1;
    for (uint32_t s = 0; s < lattice.n_states(); ++s) {
      expect_share(posteriors.states[s]);
      expect_share(posteriors.ends[s]);
      EXPECT_NEAR(posteriors.states[s], into[s], 1e-9);
      double out = posteriors.ends[s];
      for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
        expect_share(posteriors.arcs[a]);
        into[lattice.arcs[a].next_state] += posteriors.arcs[a];
        out += posteriors.arcs[a];
      }
      EXPECT_NEAR(out, posteriors.states[s], 1e-9);
      ended += posteriors.ends[s];
    }
    EXPECT_NEAR(ended, 1, 1e-9);
  }
}

TEST(Posteriors, AreZeroWithoutPaths) {
  EXPECT_TRUE(std::isinf(lattice_posteriors(CompactLattice{}, 1).log_sum));
  CompactLattice lattice;
  lattice.frames = {0};
  lattice.arc_begin = {0, 0};
  lattice.ends.resize(1);
  const LatticePosteriors posteriors = lattice_posteriors(lattice, 1);
  EXPECT_TRUE(std::isinf(posteriors.log_sum));
  EXPECT_EQ(posteriors.states[0], 0);
}

}  // namespace
}  // namespace asr
