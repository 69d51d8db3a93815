// SPDX-License-Identifier: Apache-2.0
// Tests scores of hand-written paths.
#include "core/decode/rejection.h"

#include <gtest/gtest.h>

namespace asr {
namespace {

HeardPath heard(double cost, size_t n_silent, size_t n_speech) {
  HeardPath path;
  path.cost = cost;
  path.is_speech.assign(n_silent, false);
  path.is_speech.insert(path.is_speech.end(), n_speech, true);
  return path;
}

Background against(double cost, size_t n_silent, size_t n_speech) { return {heard(cost, n_silent, n_speech), {}}; }

TEST(OutOfGrammar, GrowsWithTheDifferenceOfCosts) {
  float before = 0;
  for (const double more : {-100.0, -20.0, -7.0, 0.0, 10.0, 100.0}) {
    const float now = out_of_grammar(heard(500 + more, 20, 100), against(500, 20, 100));
    EXPECT_GT(now, before);
    EXPECT_LE(now, 1);
    before = now;
  }
  EXPECT_NEAR(out_of_grammar(heard(493, 20, 100), against(500, 20, 100)), 0.5f, 1e-5f);  // by the fit
}

TEST(OutOfGrammar, IsOfFramesInWhichEitherPathHasSpeech) {
  const float all = out_of_grammar(heard(520, 0, 100), against(500, 0, 100));
  EXPECT_EQ(out_of_grammar(heard(520, 100, 100), against(500, 100, 100)), all);
  EXPECT_EQ(out_of_grammar(heard(520, 100, 0), against(500, 0, 100)), all);
  EXPECT_GT(out_of_grammar(heard(520, 80, 20), against(500, 80, 20)), all);
}

TEST(OutOfGrammar, IsSurelyOfASteadySound) {
  Background background = against(500, 20, 100);
  const float before = out_of_grammar(heard(480, 20, 100), background);
  EXPECT_LT(before, 0.1f);
  background.sound.n_bands = 6;
  background.sound.frames.assign(120, BandFrame{100, 90, 80, 70, 60, 50});
  EXPECT_GT(out_of_grammar(heard(480, 20, 100), background), 0.99f);
  for (size_t f = 0; f < 120; ++f) background.sound.frames[f][f / 10 % 6] *= 30;
  EXPECT_FLOAT_EQ(out_of_grammar(heard(480, 20, 100), background), before);
}

TEST(OutOfGrammar, OfNothingIsANumber) {
  const float score = out_of_grammar({}, {});
  EXPECT_GE(score, 0);
  EXPECT_LE(score, 1);
}

TEST(HeardPath, LeavesOutWhatWordsCost) {
  const std::vector<asr_path_arc> arcs{{0, 1, 0, 0, 0}, {1, 0, 5, 0, 0}, {1, 2, 6, 0, 0}};
  asr_path path{};
  path.arcs = arcs.data();
  path.n_arcs = arcs.size();
  path.n_frames = 2;
  path.total_cost = 10;
  const HeardPath found = heard_path(path, 1.5f, [](uint32_t id) { return id == 1; });
  EXPECT_EQ(found.cost, 7);
  EXPECT_EQ(found.is_speech, (std::vector<bool>{false, true}));

  HeardPath before;
  before.add(arcs.data(), 2, [](uint32_t id) { return id == 1; });
  path.arcs += 2;
  path.n_arcs -= 2;
  const HeardPath joined = heard_path(
      path, 1.5f, [](uint32_t id) { return id == 1; }, before);
  EXPECT_EQ(joined.cost, found.cost);
  EXPECT_EQ(joined.is_speech, found.is_speech);
}

}  // namespace
}  // namespace asr
