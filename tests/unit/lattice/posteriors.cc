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
  for (CompactLattice::End &end : lattice.ends) end.cost.acoustic += 1e7;  // of an hour
  const LatticePosteriors large = lattice_posteriors(lattice, 0.1);
  for (size_t a = 0; a < lattice.arcs.size(); ++a) EXPECT_NEAR(large.arcs[a], small.arcs[a], 1e-8);
}

TEST(Posteriors, AreZeroWithoutPaths) {
  EXPECT_TRUE(std::isinf(lattice_posteriors({}, 1).log_sum));
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
