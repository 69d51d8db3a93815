// SPDX-License-Identifier: Apache-2.0
// Tests scores of hand-written paths.
#include "core/decode/rejection.h"

#include <gtest/gtest.h>

#include <algorithm>

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

// Without words, so that all of the speech counts together.
float out_of_grammar(const HeardPath &grammar, const Background &background) {
  return Comparison(grammar, background, {}).out_of_grammar();
}

// 20 frames of silence, and words of 40 frames each, whose costs are more than the background's by these values a frame.
struct Spoken {
  explicit Spoken(const std::vector<float> &more) {
    grammar.is_speech.assign(20, false);
    grammar.costs.assign(20, 1);
    for (const float excess : more) {
      const auto begin = static_cast<uint32_t>(grammar.costs.size());
      words.push_back({1, begin, begin + 40});
      grammar.is_speech.insert(grammar.is_speech.end(), 40, true);
      grammar.costs.insert(grammar.costs.end(), 40, 1 + excess);
      grammar.cost += static_cast<double>(40 * excess);
    }
    background.path.is_speech = grammar.is_speech;
    background.path.costs.assign(grammar.costs.size(), 1);
  }
  Comparison compare() const { return {grammar, background, words}; }

  HeardPath grammar;
  Background background;
  std::vector<WordSpan> words;
};

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
  Spoken spoken({-0.4f, -0.4f, -0.4f});
  const float before = spoken.compare().out_of_grammar(), confidence = spoken.compare().confidence(20, 60);
  EXPECT_LT(before, 0.1f);
  spoken.background.sound.n_bands = 6;
  spoken.background.sound.frames.assign(140, BandFrame{100, 90, 80, 70, 60, 50});
  EXPECT_GT(spoken.compare().out_of_grammar(), 0.99f);
  EXPECT_LT(spoken.compare().confidence(20, 60), 0.01f);
  for (size_t f = 0; f < 140; ++f) spoken.background.sound.frames[f][f / 10 % 6] *= 30;
  EXPECT_FLOAT_EQ(spoken.compare().out_of_grammar(), before);
  EXPECT_FLOAT_EQ(spoken.compare().confidence(20, 60), confidence);
}

TEST(OutOfGrammar, IsOfTheWordThatFitsWorst) {
  const Spoken right({-0.4f, -0.4f, -0.4f, -0.4f, -0.4f}), wrong({-0.4f, -0.4f, 0.6f, -0.4f, -0.4f});
  EXPECT_LT(right.compare().out_of_grammar(), 0.1f);
  EXPECT_LT(out_of_grammar(wrong.grammar, wrong.background), 0.1f);  // on average it fits
  EXPECT_GT(wrong.compare().out_of_grammar(), 0.8f);
}

TEST(OutOfGrammar, IsOfSpeechBetweenWords) {
  Spoken spoken({-0.4f, 0.6f, -0.4f});
  spoken.words.erase(spoken.words.begin() + 1);
  std::fill(spoken.grammar.is_speech.begin() + 60, spoken.grammar.is_speech.begin() + 100, false);
  EXPECT_GT(spoken.compare().out_of_grammar(), 0.8f);
  std::fill(spoken.background.path.is_speech.begin() + 60, spoken.background.path.is_speech.begin() + 100, false);
  EXPECT_LT(spoken.compare().out_of_grammar(), 0.5f);  // silence to both
}

TEST(OutOfGrammar, GarbageFitsAnySound) {
  Spoken spoken({-0.4f, 0.9f, -0.4f});
  EXPECT_GT(spoken.compare().out_of_grammar(), 0.8f);
  spoken.words.erase(spoken.words.begin() + 1);
  spoken.grammar.is_garbage.assign(spoken.grammar.is_speech.size(), false);
  std::fill(spoken.grammar.is_garbage.begin() + 60, spoken.grammar.is_garbage.begin() + 100, true);
  const Comparison comparison = spoken.compare();
  EXPECT_LT(comparison.out_of_grammar(), 0.1f);
  EXPECT_NEAR(comparison.confidence(20, 60), Spoken({-0.4f, -0.4f, -0.4f}).compare().confidence(60, 100), 0.03f);
}

TEST(OutOfGrammar, OfNothingIsANumber) {
  const float score = out_of_grammar({}, {});
  EXPECT_GE(score, 0);
  EXPECT_LE(score, 1);
  const Comparison nothing({}, {}, {{1, 0, 0}, {1, 7, 30}});
  EXPECT_GE(nothing.out_of_grammar(), 0);
  EXPECT_LE(nothing.confidence(7, 30), 1);
}

TEST(Confidence, IsOfEachWord) {
  const Comparison comparison = Spoken({-0.4f, -0.4f, 0.6f, -0.4f, -0.4f}).compare();
  EXPECT_GT(comparison.confidence(20, 60), 0.9f);
  EXPECT_GT(comparison.confidence(60, 100), 0.7f);  // the wrong word is near
  EXPECT_LT(comparison.confidence(100, 140), 0.1f);
  EXPECT_GT(comparison.confidence(180, 220), 0.9f);
}

TEST(Confidence, OfAKeywordGrowsWithItsLength) {
  const Comparison comparison = Spoken({-0.4f, -0.4f, 0.6f}).compare();
  EXPECT_GT(comparison.keyword_confidence(20, 100), 0.9f);
  EXPECT_GT(comparison.keyword_confidence(20, 100), comparison.keyword_confidence(20, 60));
  EXPECT_LT(comparison.keyword_confidence(20, 30), 0.1f);
  EXPECT_LT(comparison.keyword_confidence(100, 140), 0.001f);
  EXPECT_GE(comparison.keyword_confidence(7, 7), 0);
}

// The frames around it, which alone were compared, say nothing about a keyword of another path.
TEST(Confidence, OfAKeywordWhereTheBestPathHasGarbageIsLow) {
  Spoken spoken({-0.4f, -0.4f, -0.4f});
  spoken.words.erase(spoken.words.begin() + 1);
  spoken.grammar.is_garbage.assign(spoken.grammar.is_speech.size(), false);
  std::fill(spoken.grammar.is_garbage.begin() + 60, spoken.grammar.is_garbage.begin() + 100, true);
  const Comparison comparison = spoken.compare();
  EXPECT_LT(comparison.keyword_confidence(60, 100), 0.01f);
  EXPECT_GT(comparison.keyword_confidence(20, 60), 0.1f);
}

TEST(HeardPath, LeavesOutWhatWordsCost) {
  const std::vector<asr_path_arc> arcs{{0, 1, 0, 1, 10}, {1, 0, 5, 2, 0}, {1, 2, 6, 3, 20}};
  asr_path path{};
  path.arcs = arcs.data();
  path.n_arcs = arcs.size();
  path.n_frames = 2;
  path.total_cost = 10;
  const HeardPath found = heard_path(path, 0.5f, 1.5f, [](uint32_t id) { return id == 1; });
  EXPECT_EQ(found.cost, 7);
  EXPECT_EQ(found.costs, (std::vector<float>{8, 13}));
  EXPECT_EQ(found.is_speech, (std::vector<bool>{false, true}));

  HeardPath before;
  before.add(arcs.data(), 2, 0.5f, [](uint32_t id) { return id == 1; });
  path.arcs += 2;
  path.n_arcs -= 2;
  const HeardPath joined = heard_path(
      path, 0.5f, 1.5f, [](uint32_t id) { return id == 1; }, before);
  EXPECT_EQ(joined.cost, found.cost);
  EXPECT_EQ(joined.is_speech, found.is_speech);
  EXPECT_EQ(joined.costs, found.costs);
}

}  // namespace
}  // namespace asr
