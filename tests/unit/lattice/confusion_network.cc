// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/confusion_network.h"

#include <gtest/gtest.h>

#include "tests/unit/lattice/allocated.h"
#include "tests/unit/lattice/small_lattice.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

std::vector<uint32_t> ids(const std::vector<WordPlace> &places) {
  std::vector<uint32_t> words;
  for (const WordPlace &place : places) words.push_back(place.word);
  return words;
}

double expected_errors(const std::vector<test::LatticePath> &paths, const std::vector<uint32_t> &words) {
  double errors = 0;
  for (const auto &path : paths) errors += path.posterior * test::edit_distance(path.words, words);
  return errors;
}

void expect_shares(const ConfusionNetwork &network) {
  for (const auto &slot : network.slots) {
    double sum = 0, before = 1;
    for (const SlotWord &word : slot) {
      EXPECT_LE(word.posterior, before + 1e-9);
      EXPECT_GT(word.posterior, 0);
      EXPECT_LE(word.begin, word.end);
      before = word.posterior;
      sum += word.posterior;
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(BestWords, AreOfTheLeastCostlyPath) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = test::random_lattice({2 + seed % 9, 4, 2, false, false}, random);
    const auto paths = test::list_paths(lattice, 0.1);
    const auto best = std::min_element(paths.begin(), paths.end(),
                                       [](const auto &a, const auto &b) { return a.cost.total(0.1) < b.cost.total(0.1); });
    EXPECT_EQ(ids(best_words(lattice, 0.1)), best->words) << seed;
  }
}

// If paths do not meet, folding is the exact expected edit distance.
TEST(ConfusionNetwork, IsExactOnTrees) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = test::random_lattice({2 + seed % 12, 3, 1, true, false}, random);
    const auto paths = test::list_paths(lattice, 0.1);
    std::vector<WordPlace> words = best_words(lattice, 0.1);
    if (seed % 2 == 1) {  // any other words
      words.clear();
      for (unsigned i = 0; i < seed % 5; ++i) words.push_back({1 + uint32_t(random() % 3), 4.0 * i, 4.0 * i + 4});
    }
    const ConfusionNetwork network = fold_onto(lattice, words, 0.1);
    EXPECT_NEAR(network.expected_errors, expected_errors(paths, ids(words)), 1e-6) << seed;
    ASSERT_EQ(network.slots.size(), 2 * words.size() + 1);
    expect_shares(network);
  }
}

TEST(ConfusionNetwork, IsNeverBelowTheExpectedErrors) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const CompactLattice lattice = test::random_lattice({2 + seed % 9, 3, 2, false, seed % 3 == 0}, random);
    const auto paths = test::list_paths(lattice, 0.1);
    const std::vector<WordPlace> best = best_words(lattice, 0.1);
    const ConfusionNetwork network = fold_onto(lattice, best, 0.1);
    EXPECT_GE(network.expected_errors, expected_errors(paths, ids(best)) - 1e-6) << seed;
    expect_shares(network);

    const MinimumRisk risk = minimum_risk(lattice, 0.1);
    EXPECT_LE(risk.network.expected_errors, network.expected_errors + 1e-9) << seed;
    expect_shares(risk.network);
    ASSERT_EQ(risk.network.slots.size(), 2 * risk.words.size() + 1);
  }
}

// Makes "1 2 3" and "1 4 3" and "1 3", in which only the middle is uncertain.
CompactLattice three_ways(double probability_2, double probability_4) {
  CompactLattice lattice;
  lattice.frames = {0, 10, 20, 30};
  const double probability_none = 1 - probability_2 - probability_4;
  lattice.arcs = {{1, 1, {}, {}},
                  {2, 2, {-std::log(probability_2), 0}, {}},
                  {2, 4, {-std::log(probability_4), 0}, {}},
                  {3, 3, {-std::log(probability_none), 0}, {}},
                  {3, 3, {}, {}}};
  lattice.arc_begin = {0, 1, 4, 5, 5};
  lattice.ends.resize(4);
  lattice.ends[3].cost = {0, 0};
  return lattice;
}

TEST(ConfusionNetwork, GivesWordsTheirShareAndTimes) {
  const CompactLattice lattice = three_ways(0.5, 0.3);
  const MinimumRisk risk = minimum_risk(lattice, 1);
  ASSERT_EQ(risk.words.size(), 3u);
  EXPECT_EQ(risk.words[1].word, 2u);
  EXPECT_NEAR(risk.words[0].posterior, 1, 1e-9);
  EXPECT_NEAR(risk.words[1].posterior, 0.5, 1e-9);
  EXPECT_NEAR(risk.words[2].posterior, 1, 1e-9);
  EXPECT_NEAR(risk.words[2].begin, 0.8 * 20 + 0.2 * 10, 1e-9);
  EXPECT_NEAR(risk.words[2].end, 30, 1e-9);
  EXPECT_NEAR(risk.network.expected_errors, 0.5, 1e-9);
  ASSERT_EQ(risk.network.slots[3].size(), 3u);
  EXPECT_EQ(risk.network.slots[3][1].word, 4u);
  EXPECT_EQ(risk.network.slots[3][2].word, 0u);
}

TEST(ConfusionNetwork, GivenWordsKeepTheirPlaces) {
  const CompactLattice lattice = three_ways(0.5, 0.3);
  const std::vector<double> confidences = word_confidences(lattice, {{1, 0, 10}, {4, 10, 20}, {3, 20, 30}, {9, 30, 30}}, 1);
  ASSERT_EQ(confidences.size(), 4u);
  EXPECT_NEAR(confidences[0], 1, 1e-9);
  EXPECT_NEAR(confidences[1], 0.3, 1e-9);
  EXPECT_NEAR(confidences[2], 1, 1e-9);
  EXPECT_EQ(confidences[3], 0);  // in no path
}

// The likeliest path is "1 5", but 2 is likelier than 1 over all paths.
TEST(MinimumRisk, IsNotTheLikeliestPath) {
  CompactLattice lattice;
  lattice.frames = {0, 10, 10, 20};
  const auto cost = [](double probability) { return LatticeCost{-std::log(probability), 0}; };
  lattice.arcs = {
      {1, 1, cost(0.4), {}}, {2, 2, cost(0.6), {}}, {3, 5, cost(1), {}}, {3, 5, cost(0.5), {}}, {3, 6, cost(0.5), {}}};
  lattice.arc_begin = {0, 2, 3, 5, 5};
  lattice.ends.resize(4);
  lattice.ends[3].cost = {0, 0};
  EXPECT_EQ(ids(best_words(lattice, 1)), (std::vector<uint32_t>{1, 5}));
  const MinimumRisk risk = minimum_risk(lattice, 1);
  ASSERT_EQ(risk.words.size(), 2u);
  EXPECT_EQ(risk.words[0].word, 2u);
  EXPECT_EQ(risk.words[1].word, 5u);
  EXPECT_NEAR(risk.words[0].posterior, 0.6, 1e-9);
  EXPECT_NEAR(risk.words[1].posterior, 0.7, 1e-9);
}

// The reach of folding is bounded: words of an hour-long sequence take no longer each.
TEST(ConfusionNetwork, ReachesFarEnoughInLongLattices) {
  CompactLattice lattice;
  const uint32_t n_words = 3000;
  for (uint32_t s = 0; s < n_words; ++s) {
    lattice.frames.push_back(100 * s);
    lattice.arcs.push_back({s + 1, 1 + s % 7, {0.1, 0}, {}});
    lattice.arcs.push_back({s + 1, 8, {2, 0}, {}});
    lattice.arc_begin.push_back(lattice.arcs.size());
  }
  lattice.frames.push_back(100 * n_words);
  lattice.arc_begin.push_back(lattice.arcs.size());
  lattice.ends.resize(n_words + 1);
  lattice.ends[n_words].cost = {0, 0};
  const double share = 1 / (1 + std::exp(-1.9));
  const std::vector<double> confidences = word_confidences(lattice, best_words(lattice, 1), 1);
  ASSERT_EQ(confidences.size(), n_words);
  for (const double confidence : confidences) EXPECT_NEAR(confidence, share, 1e-6);
}

// One arc of cost 1e22 precedes all others: sums of costs are rounded by more than the differences of the others.
TEST(ConfusionNetwork, HasSharesAtCostsOfAnySize) {
  for (unsigned seed = 0; seed < 600 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    CompactLattice lattice = test::random_lattice({3 + seed % 12, 3, 2.5, false, false}, random);
    const double size = std::pow(10.0, seed % 30);
    for (uint64_t a = 0; a < lattice.arc_begin[1]; ++a) lattice.arcs[a].cost.acoustic += size * (1 + 1e-7 * double(a));
    if (seed % 2 == 1) lattice.arcs.back().cost.acoustic *= -size;
    const std::vector<WordPlace> best = best_words(lattice, 0.1);
    expect_shares(fold_onto(lattice, best, 0.1));
    expect_shares(minimum_risk(lattice, 0.1).network);
    for (const double confidence : word_confidences(lattice, best, 0.1)) {
      EXPECT_TRUE(confidence >= 0 && confidence <= 1) << confidence;
    }
  }
}

// A file may put any number of words into no time: all pairs of them would be compared.
TEST(ConfusionNetwork, TooManyWordsInOneFrameAreRefused) {
  CompactLattice lattice;
  const uint32_t n_words = 20000;
  for (uint32_t s = 0; s <= n_words; ++s) {
    lattice.frames.push_back(0);
    if (s < n_words) lattice.arcs.push_back({s + 1, 1, {0.1, 0}, {}});
    lattice.arc_begin.push_back(lattice.arcs.size());
  }
  lattice.ends.resize(n_words + 1);
  lattice.ends[n_words].cost = {0, 0};
  test::expect_error([&] { fold_onto(lattice, best_words(lattice, 1), 1); }, ASR_INVALID_ARGUMENT, "too many words");
}

// Twenty words per frame for a while: with all within reach of each other, their shares are still computed.
TEST(ConfusionNetwork, DenseWordsAreFoldedWithinLess) {
  CompactLattice lattice;
  const uint32_t n_words = 8000;
  for (uint32_t s = 0; s <= n_words; ++s) {
    lattice.frames.push_back(s / 20);
    if (s < n_words) lattice.arcs.push_back({s + 1, 1 + s % 7, {0.1, 0}, {}});
    if (s < n_words) lattice.arcs.push_back({s + 1, 8, {2, 0}, {}});
    lattice.arc_begin.push_back(lattice.arcs.size());
  }
  lattice.ends.resize(n_words + 1);
  lattice.ends[n_words].cost = {0, 0};
  const double share = 1 / (1 + std::exp(-1.9));
  const test::PeakMemory peak;
  for (const double confidence : word_confidences(lattice, best_words(lattice, 1), 1)) EXPECT_NEAR(confidence, share, 1e-3);
  EXPECT_LT(peak.bytes(), size_t{400} << 20);  // all pairs of a state and a word would take 2 GB
}

TEST(ConfusionNetwork, OfNoPathIsUnsure) {
  EXPECT_TRUE(minimum_risk({}, 1).words.empty());
  EXPECT_EQ(word_confidences({}, {{1, 0, 10}}, 1), std::vector<double>{0});
}

}  // namespace
}  // namespace asr
