// SPDX-License-Identifier: Apache-2.0
// Tests that a wider beam never yields less than a narrower one under the same limits, but for a tolerance: whole lattices and
// lattices in pieces, with limits from nothing to plenty.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/lattice/determinise.h"
#include "core/lattice/nbest.h"
#include "tests/unit/lattice/determinised.h"
#include "tests/unit/lattice/lattice_cuts.h"
#include "tests/unit/lattice/random_state_lattice.h"
#include "tests/unit/lattice/word_loop_lattice.h"

namespace asr {
namespace {

using test::kScale;

using Work = std::function<Determinised(const Lattice &, const DeterminiseOptions &)>;

// A way to determinise. In a wide beam more words wait at the end of a piece, and are followed again from their beginning in
// the next one. With pieces as small as these, that work is worth some units of width.
struct Way {
  const char *name;
  Work work;
  double tolerance;
};

Determinised whole(const Lattice &lattice, const DeterminiseOptions &options) { return determinise(lattice, options); }

Determinised in_pieces_of(uint32_t n_frames, const Lattice &lattice, const DeterminiseOptions &options) {
  std::vector<Lattice> cut = test::cut_lattice(lattice, kScale, n_frames);
  PieceDeterminiser pieces(options);
  for (size_t i = 0; i + 1 < cut.size(); ++i) pieces.add(std::move(cut[i]));
  return pieces.finish(std::move(cut.back()));
}

Determinised in_pieces(const Lattice &lattice, const DeterminiseOptions &options) { return in_pieces_of(15, lattice, options); }

// Returns a lattice like those of speech: a few likely words, and many unlikely ones, at every time.
Lattice speech_like(uint32_t seed) {
  std::mt19937 random(seed);
  test::StateLatticeShape shape;
  shape.n_frames = 90;
  shape.states_per_frame = 6;
  shape.arcs_per_state = 3;
  shape.n_words = 40;
  shape.n_transition_ids = 20;
  shape.word_share = 0.15;
  shape.epsilon_share = 0.1;
  shape.end_share = 0;
  return test::random_state_lattice(shape, random);
}

// Returns how much more the second best word sequence costs, +inf if there is none.
double margin(const Determinised &result) {
  const std::vector<LatticePath> paths = n_best_paths(result.lattice, kScale, 2, result.beam);
  return paths.size() < 2 ? kNoEnd.graph : paths[1].cost.total(kScale) - paths[0].cost.total(kScale);
}

struct Tally {
  size_t n_narrowed = 0, n_alone = 0, n_whole = 0;
};

void expect_widening(const Lattice &lattice, const Way &way, DeterminiseOptions options, Tally *tally) {
  double widest = 0, min_margin = kNoEnd.graph, min_cost = 0;
  for (double beam = 4; beam <= 24; beam += beam < 12 ? 1 : 2.5) {
    SCOPED_TRACE(beam);
    options.lattice_beam = beam;
    const Determinised result = way.work(lattice, options);
    EXPECT_LE(result.beam, beam);
    EXPECT_GE(result.beam, widest - way.tolerance);
    const LatticePath best = best_path(result.lattice, kScale);
    if (beam == 4) min_cost = best.cost.total(kScale);
    EXPECT_NEAR(best.cost.total(kScale), min_cost, 1e-6);
    EXPECT_EQ(best.transition_ids.size(), lattice.frames.back());
    if (min_margin <= widest - way.tolerance) {
      EXPECT_NEAR(margin(result), min_margin, 1e-6) << "alternatives are lost";
    }
    widest = std::max(widest, result.beam);
    min_margin = std::min(min_margin, margin(result));
    tally->n_narrowed += result.beam > 0 && result.beam < beam;
    tally->n_alone += result.beam == 0;
    tally->n_whole += result.beam == beam;
  }
}

// Every search of a piece knows when it has its best path, however costs are rounded, and stops after it if work has run out.
TEST(WidthsInPieces, NoneIsWholeWithoutWork) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Determinised result = in_pieces_of(45, speech_like(seed), {kScale, 8, 0});
    EXPECT_LT(result.beam, 8) << seed;
  }
}

class Widths : public testing::TestWithParam<Way> {};

TEST_P(Widths, GrowWithTheBeamInLittleMemory) {
  Tally tally;
  for (uint32_t seed = 0; seed < 12 && !HasFailure(); ++seed) {
    const Lattice lattice = speech_like(seed);
    for (const size_t kilobytes : {1, 150, 200, 300, 500, 1000, 1500, 6000, 30000}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << kilobytes << " kB");
      expect_widening(lattice, GetParam(), {kScale, 0, uint64_t{1} << 28, 1000 * kilobytes}, &tally);
    }
  }
  EXPECT_GT(tally.n_narrowed, 30u);
  EXPECT_GT(tally.n_whole, 100u);
  EXPECT_GT(tally.n_alone, 0u);
}

TEST_P(Widths, GrowWithTheBeamInLittleTime) {
  Tally tally;
  for (uint32_t seed = 0; seed < 12 && !HasFailure(); ++seed) {
    const Lattice lattice = speech_like(seed);
    for (const uint64_t max_work : {100, 3000, 30000, 300000, 3000000}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", work " << max_work);
      expect_widening(lattice, GetParam(), {kScale, 0, max_work, size_t{1} << 26}, &tally);
    }
  }
  EXPECT_GT(tally.n_narrowed, 30u);
  EXPECT_GT(tally.n_whole, 100u);
}

INSTANTIATE_TEST_SUITE_P(OfLattices, Widths, testing::Values(Way{"Whole", whole, 0.5}, Way{"InPieces", in_pieces, 4}),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace asr
