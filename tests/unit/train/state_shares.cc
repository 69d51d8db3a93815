// SPDX-License-Identifier: Apache-2.0
// Shares of states in a lattice's frames, against the sums over all of its paths.
#include "builder/train/state_shares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

namespace asr::train {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const std::vector<uint32_t> kPdfOf = {99, 4, 2, 4, 7};  // transition ids 1 and 3 have one state

// A lattice of three states a frame, with arcs to all of the next frame's and epsilon arcs within the frame.
struct RandomLattice {
  std::vector<uint64_t> arc_begin = {0};
  std::vector<asr_raw_arc> arcs;
  std::vector<uint32_t> frames;
  std::vector<float> final_costs;
  asr_raw_lattice view{};

  RandomLattice(uint32_t n_frames, uint64_t seed, float scale) {
    std::mt19937_64 random(seed);
    const auto cost = [&] { return scale * static_cast<float>(random() % 1000) / 1000; };
    const uint32_t n_states = 1 + 3 * n_frames;
    for (uint32_t s = 0; s < n_states; ++s) {
      const uint32_t frame = (s + 2) / 3, next = 1 + 3 * frame;
      frames.push_back(frame);
      if (s > 0 && s % 3 != 0) arcs.push_back({s + 1, 0, 1, cost(), 0});
      for (uint32_t i = 0; i < 3 && frame < n_frames; ++i) {
        arcs.push_back({next + i, 1 + static_cast<uint32_t>(random() % 4), 0, cost(), 10 * cost()});
      }
      arc_begin.push_back(arcs.size());
      final_costs.push_back(frame == n_frames && s % 3 != 1 ? cost() : kInfinity);
    }
    view.n_states = n_states;
    view.n_frames = n_frames;
    view.n_arcs = arcs.size();
    view.arc_begin = arc_begin.data();
    view.arcs = arcs.data();
    view.frames = frames.data();
    view.final_costs = final_costs.data();
    view.reached_final = 1;
  }

  // Probabilities, not divided by their sum, of all paths through each state in each frame, and of all paths.
  std::map<std::pair<uint32_t, uint32_t>, double> sums(double *all) const {
    std::map<std::pair<uint32_t, uint32_t>, double> sums;
    std::vector<std::pair<uint32_t, uint32_t>> passed;
    *all = 0;
    const std::function<void(uint32_t, double)> go_on = [&](uint32_t s, double cost) {
      if (std::isfinite(final_costs[s])) {
        const double path = std::exp(-cost - static_cast<double>(final_costs[s]));
        *all += path;
        for (const auto &place : passed) sums[place] += path;
      }
      for (uint64_t a = arc_begin[s]; a < arc_begin[s + 1]; ++a) {
        const asr_raw_arc &arc = arcs[a];
        if (arc.transition_id != 0) passed.emplace_back(frames[s], kPdfOf[arc.transition_id]);
        go_on(arc.next_state, cost + static_cast<double>(arc.graph_cost) + static_cast<double>(arc.acoustic_cost));
        if (arc.transition_id != 0) passed.pop_back();
      }
    };
    go_on(0, 0);
    return sums;
  }
};

TEST(StateShares, AreThoseOfAllPaths) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const RandomLattice lattice(4, seed, 0.3f);
    double all = 0;
    std::map<std::pair<uint32_t, uint32_t>, double> expected = lattice.sums(&all);
    const std::vector<StateShare> shares = state_shares(lattice.view, kPdfOf);
    std::vector<double> row_sums(4);
    for (size_t i = 0; i < shares.size(); ++i) {
      const auto [row, state, share] = shares[i];
      ASSERT_LT(row, 4u);
      const bool ascends = i == 0 || std::make_pair(shares[i - 1].row, shares[i - 1].state) < std::make_pair(row, state);
      EXPECT_TRUE(ascends);
      const auto found = expected.find({static_cast<uint32_t>(row), state});
      ASSERT_NE(found, expected.end());
      EXPECT_NEAR(static_cast<double>(share), found->second / all, 3e-4);  // small shares are left out of the row
      row_sums[row] += static_cast<double>(share);
      expected.erase(found);
    }
    for (const double sum : row_sums) EXPECT_NEAR(sum, 1, 1e-6);
    for (const auto &[place, sum] : expected) EXPECT_LT(sum / all, 1.01e-4);
  }
}

TEST(StateShares, CostsMayBeLarge) {
  const RandomLattice lattice(3, 1, 1e5f);
  const std::vector<StateShare> shares = state_shares(lattice.view, kPdfOf);
  ASSERT_EQ(shares.size(), 3u);  // one path is far better than all others
  for (const StateShare &share : shares) EXPECT_EQ(share.share, 1);
}

}  // namespace
}  // namespace asr::train
