// SPDX-License-Identifier: Apache-2.0
// Tests the n-gram model over units: probabilities sum to one after any history, and equal values computed by hand.
#include "builder/g2p/unit_ngram.h"

#include <gtest/gtest.h>

#include <random>

namespace asr {
namespace {

constexpr uint32_t kUnits = 12;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

// Makes words with an uneven sequence of units; each unit occurs.
std::vector<std::vector<uint32_t>> random_words(uint32_t seed, size_t n) {
  Random random(seed);
  std::vector<std::vector<uint32_t>> words = {{}};
  for (uint32_t unit = kFirstUnit; unit < kUnits; ++unit) words[0].push_back(unit);
  for (size_t i = 0; i < n; ++i) {
    std::vector<uint32_t> word(1 + random() % 6);
    uint32_t unit = kFirstUnit + random() % (kUnits - kFirstUnit);
    for (uint32_t &u : word) u = unit = kFirstUnit + (unit * 7 + random() % 3) % (kUnits - kFirstUnit);
    words.push_back(word);
  }
  return words;
}

TEST(UnitNgram, SumsToOneAfterAnyHistory) {
  Random random(1);
  for (const uint32_t order : {1u, 2u, 3u, 5u, 8u}) {
    const UnitNgram model = estimate_ngram(random_words(order, 200), order);
    for (int i = 0; i < 200; ++i) {
      std::vector<uint32_t> history(random() % (order + 1));
      for (uint32_t &unit : history) unit = kFirstUnit + random() % (kUnits - kFirstUnit);
      if (random() % 2 == 0) history.insert(history.begin(), kBegin);
      double sum = 0;
      for (uint32_t unit = kEnd; unit < kUnits; ++unit) {
        const double probability = ngram_probability(model, history, unit);
        EXPECT_GT(probability, 0);
        sum += probability;
      }
      EXPECT_NEAR(sum, 1, 1e-12) << "order " << order;
      EXPECT_EQ(ngram_probability(model, history, kBegin), 0);
    }
  }
}

TEST(UnitNgram, NgramsOfTheWordsAreThere) {
  const UnitNgram model = estimate_ngram({{2, 3}, {2, 3}, {3}}, 3);
  // 1-grams: begin, end, 2, 3; 2-grams: begin 2, begin 3, 2 3, 3 end; 3-grams: begin 2 3, begin 3 end, 2 3 end.
  EXPECT_EQ(model.n_nodes(), 1u + 4 + 4 + 3);
  EXPECT_EQ(model.n_inner(), 1u + 4 + 4);
}

// Without enough n-grams to estimate them, discounts are 0.5, 0.75 and 0.9 for counts of one, two and more.
TEST(UnitNgram, EqualsTheFormulaOfASmallBigram) {
  const UnitNgram model = estimate_ngram({{2, 3}, {2, 3}, {3}}, 2);
  // Continuations: end after 3 (1), 2 after begin (1), 3 after begin and 2 (2); 3 possible units.
  const double rest = (0.5 + 0.5 + 0.75) / 4;
  const double p_end = 0.5 / 4 + rest / 3, p2 = 0.5 / 4 + rest / 3, p3 = 1.25 / 4 + rest / 3;
  EXPECT_NEAR(ngram_probability(model, {}, kEnd), p_end, 1e-15);
  EXPECT_NEAR(ngram_probability(model, {}, 2), p2, 1e-15);
  EXPECT_NEAR(ngram_probability(model, {}, 3), p3, 1e-15);
  // After begin: 2 twice, 3 once.
  const double rest_begin = (0.75 + 0.5) / 3;
  EXPECT_NEAR(ngram_probability(model, {kBegin}, 2), 1.25 / 3 + rest_begin * p2, 1e-15);
  EXPECT_NEAR(ngram_probability(model, {kBegin}, 3), 0.5 / 3 + rest_begin * p3, 1e-15);
  EXPECT_NEAR(ngram_probability(model, {kBegin}, kEnd), rest_begin * p_end, 1e-15);
}

}  // namespace
}  // namespace asr
