// SPDX-License-Identifier: Apache-2.0
// Fusion against the double reference, in any pieces.
#include "core/rows/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "reference/fusion.h"

namespace asr {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct Problem {
  FusionSettings settings;
  size_t n_frames, n_states;
  std::vector<std::vector<float>> loglikes;
  std::vector<bool> is_silent;
};

// Models that differ by some units in each score, as real ones do; every fifth state is silence's.
Problem random_problem(FusionRule rule, size_t n_models, size_t n_states, size_t n_frames, unsigned seed, float spread = 6) {
  Problem p;
  p.settings.rule = rule;
  p.settings.follow_frames = 8;
  p.settings.select_frames = 7;
  p.n_frames = n_frames;
  p.n_states = n_states;
  std::mt19937 random(seed);
  std::normal_distribution<float> common(-90, 20), own(0, spread);
  std::uniform_real_distribution<float> weight(0.1f, 2);
  std::vector<float> shared(n_frames * n_states);
  for (float &value : shared) value = common(random);
  for (size_t m = 0; m < n_models; ++m) {
    p.settings.weights.push_back(weight(random));
    p.loglikes.push_back(shared);
    for (float &value : p.loglikes[m]) value += own(random);
  }
  for (size_t s = 0; s < n_states; ++s) p.is_silent.push_back(s % 5 == 1);
  return p;
}

// In pieces of so many frames. Models that are no longer used get no scores.
std::vector<float> fuse(const Problem &p, size_t piece, Fusion *fusion) {
  fusion->begin(p.is_silent);
  std::vector<float> out(p.n_frames * p.n_states, NAN);
  for (size_t t = 0; t < p.n_frames; t += piece) {
    std::vector<const float *> rows;
    for (size_t m = 0; m < p.loglikes.size(); ++m) {
      rows.push_back(fusion->uses(m) ? p.loglikes[m].data() + t * p.n_states : nullptr);
    }
    fusion->combine(rows.data(), std::min(piece, p.n_frames - t), out.data() + t * p.n_states);
  }
  return out;
}

std::vector<float> fuse(const Problem &p, size_t piece = 1000) {
  Fusion fusion(p.settings, p.n_states);
  return fuse(p, piece, &fusion);
}

std::vector<double> reference_of(const Problem &p) {
  reference::FusionProblem r;
  r.rule = static_cast<reference::Fusion>(p.settings.rule);
  r.n_frames = p.n_frames;
  r.n_states = p.n_states;
  for (const auto &loglikes : p.loglikes) r.loglikes.emplace_back(loglikes.begin(), loglikes.end());
  r.weights.assign(p.settings.weights.begin(), p.settings.weights.end());
  r.is_silent = p.is_silent;
  r.follow_frames = p.settings.follow_frames;
  r.select_frames = p.settings.select_frames;
  return reference::fuse(r);
}

// Sums in float are exact to some digits of their largest term.
double tolerance(const Problem &p, size_t i) {
  double most = 0;
  for (const auto &loglikes : p.loglikes) {
    if (std::isfinite(loglikes[i])) most = std::max(most, static_cast<double>(std::abs(loglikes[i])));
  }
  return 1e-6 * most + 1e-6;
}

void expect_near_reference(const Problem &p) {
  const std::vector<float> found = fuse(p);
  const std::vector<double> expected = reference_of(p);
  for (size_t i = 0; i < found.size(); ++i) {
    const double value = static_cast<double>(found[i]);
    if (std::isinf(expected[i])) {
      ASSERT_EQ(value, expected[i]) << i;
    } else {
      ASSERT_NEAR(value, expected[i], tolerance(p, i)) << i;
    }
  }
}

constexpr FusionRule kRules[] = {FusionRule::kSum, FusionRule::kLogSum, FusionRule::kMax, FusionRule::kFollow,
                                 FusionRule::kSelect};

TEST(Fusion, IsThatOfTheReference) {
  for (const FusionRule rule : kRules) {
    for (const size_t n_models : {1, 2, 3, 32}) {
      for (const size_t n_states : {1, 15, 16, 33, 302}) {
        for (const float spread : {0.5f, 6.0f, 60.0f}) {
          SCOPED_TRACE(testing::Message() << static_cast<int>(rule) << " " << n_models << " " << n_states << " " << spread);
          expect_near_reference(random_problem(rule, n_models, n_states, 20, 1, spread));
        }
      }
    }
  }
}

TEST(Fusion, TakesScoresThatAreFarApartOrNone) {
  for (const FusionRule rule : kRules) {
    Problem p = random_problem(rule, 3, 40, 12, 2);
    for (size_t i = 0; i < p.loglikes[0].size(); i += 3) p.loglikes[0][i] = kMinusInfinity;
    for (size_t i = 0; i < p.loglikes[1].size(); i += 6) p.loglikes[1][i] = kMinusInfinity;
    for (size_t i = 0; i < p.loglikes[2].size(); i += 12) p.loglikes[2][i] = kMinusInfinity;
    for (size_t i = 1; i < p.loglikes[2].size(); i += 12) p.loglikes[2][i] -= 3000;
    expect_near_reference(p);
  }
}

TEST(Fusion, AModelWithItselfIsItselfBitForBit) {
  for (const FusionRule rule : kRules) {
    Problem p = random_problem(rule, 2, 302, 30, 3);
    p.settings.weights = {1, 1};
    p.loglikes[1] = p.loglikes[0];
    EXPECT_EQ(fuse(p), p.loglikes[0]) << static_cast<int>(rule);
  }
}

TEST(Fusion, PiecesDoNotMatter) {
  for (const FusionRule rule : kRules) {
    const Problem p = random_problem(rule, 4, 50, 40, 4);
    const std::vector<float> whole = fuse(p);
    for (const size_t piece : {1, 2, 7, 39}) EXPECT_EQ(fuse(p, piece), whole) << static_cast<int>(rule) << " " << piece;
  }
}

TEST(Fusion, AnUtteranceForgetsTheOneBefore) {
  for (const FusionRule rule : kRules) {
    const Problem p = random_problem(rule, 3, 20, 30, 5), other = random_problem(rule, 3, 20, 30, 6);
    Fusion fusion(p.settings, p.n_states);
    const std::vector<float> first = fuse(p, 8, &fusion);
    (void)fuse(other, 8, &fusion);
    EXPECT_EQ(fuse(p, 8, &fusion), first);
  }
}

// Model 1 is likelier by d, and silence is unlikely.
Problem likelier(FusionRule rule, float d, size_t n_frames) {
  Problem p = random_problem(rule, 2, 10, n_frames, 7, 0);
  p.settings.weights = {1, 1};
  for (float &value : p.loglikes[1]) value += d;
  for (auto &loglikes : p.loglikes) {
    for (size_t i = 1; i < loglikes.size(); i += 5) loglikes[i] -= 200;
  }
  return p;
}

TEST(Fusion, FollowsTheLikelierModelInSpeech) {
  Problem p = likelier(FusionRule::kFollow, 2, 30);
  Fusion fusion(p.settings, p.n_states);
  (void)fuse(p, 30, &fusion);
  EXPECT_NEAR(static_cast<double>(fusion.weights()[1]), 1 / (1 + std::exp(-2.0)), 1e-6);
  p.is_silent.assign(10, true);
  (void)fuse(p, 30, &fusion);
  EXPECT_EQ(fusion.weights()[1], 0.5f);
}

TEST(Fusion, SelectsAfterSoMuchSpeech) {
  Problem p = likelier(FusionRule::kSelect, 2, 6);
  Fusion fusion(p.settings, p.n_states);
  (void)fuse(p, 6, &fusion);
  EXPECT_TRUE(fusion.uses(0));
  const Problem longer = likelier(FusionRule::kSelect, 2, 7);
  const std::vector<float> row = fuse(longer, 7, &fusion);
  EXPECT_FALSE(fusion.uses(0));
  EXPECT_TRUE(fusion.uses(1));
  EXPECT_TRUE(std::equal(row.begin() + 60, row.end(), longer.loglikes[1].begin() + 60));
  p = likelier(FusionRule::kSelect, 2, 100);
  p.is_silent.assign(10, true);
  (void)fuse(p, 10, &fusion);
  EXPECT_TRUE(fusion.uses(0) && fusion.uses(1));
}

// A device gets weights() and takes their logarithms (plugins/common/fuse_call.h). A state that one model alone likes shows the
// host's.
TEST(Fusion, LogarithmsAreThoseOfADevice) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> weight(1e-6f, 20);
  for (int i = 0; i < 200; ++i) {
    FusionSettings settings;
    settings.rule = FusionRule::kMax;
    settings.weights = {weight(random), weight(random), 1, weight(random)};
    Fusion fusion(settings, 4);
    fusion.begin({});
    const double most = *std::max_element(fusion.weights().begin(), fusion.weights().end());
    std::vector<std::vector<float>> rows(4, std::vector<float>(4, -1e6f));
    std::vector<const float *> pointers;
    for (size_t m = 0; m < 4; ++m) {
      rows[m][m] = 0;
      pointers.push_back(rows[m].data());
    }
    std::vector<float> out(4);
    fusion.combine(pointers.data(), 1, out.data());
    for (size_t m = 0; m < 4; ++m) EXPECT_EQ(out[m], static_cast<float>(std::log(double{fusion.weights()[m]} / most)));
  }
}

}  // namespace
}  // namespace asr
