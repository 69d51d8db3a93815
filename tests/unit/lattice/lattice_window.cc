// SPDX-License-Identifier: Apache-2.0
// Tests which states count when LatticeWindow looks for the width that its memory suffices for.
#include "core/lattice/lattice_window.h"

#include <gtest/gtest.h>

#include "tests/unit/lattice/determinised.h"
#include "tests/unit/lattice/lattice_cuts.h"
#include "tests/unit/lattice/random_state_lattice.h"

namespace asr {
namespace {

using test::kScale;

// Returns a window with the first piece of a lattice, whose paths outside the beam are removed.
LatticeWindow window_of(uint32_t seed, double beam) {
  std::mt19937 random(seed);
  test::StateLatticeShape shape;
  shape.n_frames = 60;
  shape.states_per_frame = 8;
  shape.arcs_per_state = 3;
  shape.end_share = 0;
  LatticeWindow window(kScale);
  window.add(test::cut_lattice(test::random_state_lattice(shape, random), kScale, 40).front(), false);
  window.prepare(beam);
  return window;
}

uint32_t from_the_start(double) { return 0; }

// A wider search leaves states that a narrower one does not have. They are removed before the beam is narrowed for them.
TEST(LatticeWindow, KeepsTheBeamIfStatesOutsideItMakeRoom) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    LatticeWindow window = window_of(seed, 6);
    const size_t before = window.bytes();
    LatticeWindow removed = window;
    removed.narrow(6);
    ASSERT_LT(removed.bytes(), before);
    EXPECT_EQ(window.width_within(removed.bytes(), 6, from_the_start), 6);
    EXPECT_LT(window.width_within(removed.bytes() / 2, 6, from_the_start), 6);
    EXPECT_EQ(window.width_within(0, 6, from_the_start), 0);
  }
}

TEST(LatticeWindow, NarrowsToWhatMemorySufficesFor) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    LatticeWindow window = window_of(seed, 20);
    const size_t n_open = window.n_states() - window.open_begin();
    for (const size_t share : {2, 4, 8}) {
      LatticeWindow narrowed = window;
      const size_t max_bytes = window.bytes() / share;
      const double width = window.width_within(max_bytes, 20, from_the_start);
      if (width == 0) continue;
      narrowed.narrow(width);
      EXPECT_TRUE(narrowed.has_paths());
      EXPECT_LE(narrowed.bytes(), max_bytes + 200 * n_open) << "open states belong to the next piece";
    }
  }
}

// Subsets that wait in a wide beam alone reach back further than those of a narrow one.
TEST(LatticeWindow, StatesThatOnlyWiderPathsNeedDoNotCount) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    LatticeWindow window = window_of(seed, 20);
    const size_t max_bytes = window.bytes() / 4;
    const uint32_t middle = window.open_begin() / 2;
    const double limit = window.limit_of(6);
    const double all = window.width_within(max_bytes, 20, from_the_start),
                 late = window.width_within(max_bytes, 20, [&](double) { return middle; }),
                 late_if_narrow = window.width_within(max_bytes, 20, [&](double l) { return l <= limit ? middle : 0; });
    EXPECT_GT(late, all);
    EXPECT_EQ(late_if_narrow, std::max(all, std::min(late, 6.0)));
    EXPECT_EQ(window.width_within(max_bytes, 20, [](double) { return LatticeWindow::kOutside; }), 0);
  }
}

}  // namespace
}  // namespace asr
