// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/grammar_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "builder/graph/arpa.h"

namespace asr {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

const Vocabulary kAnyWord = {[](const std::string &) { return true; }, "", false};

// Returns the least cost of a grammar path from `state` with the words from index `from` on.
double cheapest(const Grammar &grammar, uint32_t state, const std::vector<uint32_t> &words, size_t from = 0) {
  double least = from == words.size() ? double(grammar.final_costs[state]) : kNever;
  for (const GrammarArc &arc : grammar.arcs[state]) {
    if (arc.word == 0) least = std::min(least, double(arc.cost) + cheapest(grammar, arc.next, words, from));
    if (arc.word == 0 || from == words.size() || arc.word != words[from]) continue;
    least = std::min(least, double(arc.cost) + cheapest(grammar, arc.next, words, from + 1));
  }
  return least;
}

double score(GrammarScores &scores, const std::vector<uint32_t> &words) {
  double cost = 0;
  uint32_t state = scores.start();
  for (const uint32_t word : words) cost += scores.advance(state, word, &state);
  return cost + scores.end(state);
}

// Makes trigrams with random costs: backing off is often cheaper than a listed n-gram.
NgramModel random_model(std::mt19937 &random) {
  const std::vector<std::string> names = {"</s>", "<s>", "a", "b", "c"};
  const auto cost = [&] { return float(random() % 3000) / 1000; };
  const auto chance = [&] { return random() % 2 == 0; };
  NgramBuilder builder(names, 3, "random");
  for (uint32_t w = 0; w < 5; ++w) builder.add(0, &w, w == 1 ? 99 : cost(), cost());
  for (uint32_t h = 1; h < 5; ++h) {
    for (uint32_t w = 0; w < 5; ++w) {
      const uint32_t pair[] = {h, w};
      if (w == 1 || !chance()) continue;
      builder.add(1, pair, cost(), cost());
      for (uint32_t next = 0; next < 5 && w != 0; ++next) {
        const uint32_t triple[] = {h, w, next};
        if (next != 1 && chance()) builder.add(2, triple, cost(), 0);
      }
    }
  }
  return builder.finish();
}

TEST(GrammarScores, AreThoseOfTheCheapestPath) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const Grammar grammar = ngram_grammar(random_model(random), kAnyWord, "random");
    GrammarScores scores(grammar, grammar.words, {});
    for (int i = 0; i < 30; ++i) {
      std::vector<uint32_t> words(random() % 6);
      for (uint32_t &word : words) word = 1 + uint32_t(random() % (grammar.words.size() - 1));
      EXPECT_NEAR(score(scores, words), cheapest(grammar, grammar.start, words), 1e-5) << seed;
    }
  }
}

TEST(GrammarScores, OrdinaryModelsNeedOneStateAHistory) {
  const NgramModel model = parse_arpa(
      "\\data\\\nngram 1=4\nngram 2=3\n\n\\1-grams:\n-1.0 </s>\n-99 <s> -0.5\n-0.5 a -0.25\n-0.75 b\n\n"
      "\\2-grams:\n-0.2 <s> a\n-0.3 a b\n-0.4 a </s>\n\n\\end\\\n",
      "lm");
  const Grammar grammar = ngram_grammar(model, kAnyWord, "lm");
  GrammarScores scores(grammar, {"<eps>", "b", "um", "a"}, {false, false, true, false});
  uint32_t after_a = 0, after_aa = 0, after_um = 0, after_b = 0;
  EXPECT_NEAR(scores.advance(scores.start(), 3, &after_a), 0.2 * std::log(10), 1e-5);
  EXPECT_NEAR(scores.advance(after_a, 3, &after_aa), 0.75 * std::log(10), 1e-5);
  EXPECT_EQ(after_a, after_aa);  // "<s> a" is not a longer history than "a"
  EXPECT_EQ(scores.advance(after_a, 2, &after_um), 0);
  EXPECT_EQ(after_um, after_a);
  EXPECT_NEAR(scores.advance(after_um, 1, &after_b), 0.3 * std::log(10), 1e-5);
  EXPECT_NEAR(scores.end(after_b), 1.0 * std::log(10), 1e-5);
}

TEST(GrammarScores, OtherWordsCannotFollow) {
  const Grammar grammar = word_list_grammar({"yes", "no"}, true, kAnyWord, "list");
  GrammarScores scores(grammar, {"<eps>", "yes", "maybe"}, {});
  uint32_t state = 0;
  EXPECT_EQ(scores.advance(scores.start(), 2, &state), kNever);
  EXPECT_EQ(scores.advance(scores.start(), 7, &state), kNever);
  EXPECT_LT(scores.advance(scores.start(), 1, &state), kNever);
  EXPECT_EQ(scores.advance(state, 1, &state), kNever);
}

}  // namespace
}  // namespace asr
