// SPDX-License-Identifier: Apache-2.0
// Compares pruning with the definition: for each n-gram, the relative entropy between the model and the model without it,
// summed over all histories and words.
#include "builder/graph/prune.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

namespace asr {
namespace {

using Words = std::vector<uint32_t>;
constexpr uint32_t kWords = 5;  // 0 is </s>, 1 is <s>
const std::vector<std::string> kNames = {"</s>", "<s>", "a", "b", "c"};

// A model in its simplest form: probabilities of listed n-grams; they determine the back-off weights.
struct PlainModel {
  std::map<Words, double> listed;

  double weight(const Words &history) const {
    double own = 1, shorter = 1;
    bool any = false;
    for (uint32_t w = 0; w < kWords; ++w) {
      const auto found = listed.find(extended(history, w));
      if (found == listed.end()) continue;
      any = true;
      own -= found->second;
      shorter -= prob(Words(history.begin() + 1, history.end()), w);
    }
    return any ? own / shorter : 1;
  }
  double prob(const Words &history, uint32_t word) const {
    const auto found = listed.find(extended(history, word));
    if (found != listed.end()) return found->second;
    return history.empty() ? 0 : weight(history) * prob(Words(history.begin() + 1, history.end()), word);
  }
  static Words extended(Words history, uint32_t word) {
    history.push_back(word);
    return history;
  }
};

PlainModel random_model(unsigned seed) {
  std::mt19937 random(seed);
  const auto real = [&] { return 0.05 + (random() % 1000) / 1000.0; };
  PlainModel model;
  double sum = 0;
  for (uint32_t w = 0; w < kWords; ++w) sum += w == 1 ? 0 : (model.listed[{w}] = real());
  for (auto &[words, prob] : model.listed) prob /= sum;
  model.listed[{1}] = 1e-30;
  for (size_t length = 2; length <= 3; ++length) {
    std::vector<Words> histories;
    for (const auto &[words, prob] : model.listed) {
      if (words.size() + 1 == length && words.back() != 0) histories.push_back(words);
    }
    for (const Words &history : histories) {
      double left = 0.9;
      const uint32_t never = 2 + random() % 3;  // so that some word needs backing off, and all sums are one
      for (uint32_t w = 0; w < kWords; ++w) {
        if (w == 1 || w == never || random() % 2) continue;
        const double prob = left * real() / 2;
        model.listed[PlainModel::extended(history, w)] = prob;
        left -= prob;
      }
    }
  }
  return model;
}

NgramModel to_ngrams(const PlainModel &plain) {
  NgramBuilder builder(kNames, 3, "test");
  for (const auto &[words, prob] : plain.listed) {
    const double backoff = words.size() < 3 ? -std::log(plain.weight(words)) : 0;
    builder.add(words.size() - 1, words.data(), static_cast<float>(-std::log(prob)), static_cast<float>(backoff));
  }
  return builder.finish();
}

// Returns the sum over words of p(h) p(w | h) ln(p(w | h) / p'(w | h)) for the one history whose probabilities change.
double divergence(const PlainModel &model, const Words &ngram) {
  PlainModel without = model;
  without.listed.erase(ngram);
  const Words history(ngram.begin(), ngram.end() - 1);
  double history_prob = 1;
  for (size_t i = 0; i < history.size(); ++i) {
    const uint32_t word = i == 0 && history[0] == 1 ? 0 : history[i];
    history_prob *= model.prob(Words(history.begin(), history.begin() + i), word);
  }
  double sum = 0;
  for (uint32_t w = 0; w < kWords; ++w) {
    const double p = model.prob(history, w);
    if (w != 1) sum += history_prob * p * std::log(p / without.prob(history, w));
  }
  return sum;
}

std::set<Words> kept_by_definition(const PlainModel &model, double threshold) {
  std::set<Words> kept;
  for (size_t length = 3; length >= 1; --length) {
    for (const auto &[ngram, prob] : model.listed) {
      if (ngram.size() != length) continue;
      bool needed = length == 1;
      for (uint32_t w = 0; w < kWords; ++w) needed |= kept.count(PlainModel::extended(ngram, w)) != 0;
      if (needed || std::expm1(divergence(model, ngram)) >= threshold) kept.insert(ngram);
    }
  }
  return kept;
}

TEST(Prune, KeepsWhatTheDefinitionKeeps) {
  size_t n_pruned = 0, n_kept = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const PlainModel plain = random_model(seed);
    const double threshold = 0.004;
    const std::set<Words> kept = kept_by_definition(plain, threshold);
    const NgramModel pruned = prune(to_ngrams(plain), threshold);
    PlainModel expected = plain;
    for (const auto &[ngram, prob] : plain.listed) {
      if (kept.count(ngram) == 0) expected.listed.erase(ngram);
    }
    n_pruned += plain.listed.size() - kept.size();
    size_t n = 0;
    for (const NgramLevel &level : pruned.levels) n += level.size();
    ASSERT_EQ(n, kept.size());
    for (uint32_t a = 1; a < kWords; ++a) {
      for (uint32_t b = 2; b < kWords; ++b) {
        const uint32_t pair = pruned.find_child(0, a, b);
        const NgramPlace history = pair == kNoNgram ? NgramPlace{0, b} : NgramPlace{1, pair};
        double sum = 0;
        for (uint32_t w = 0; w < kWords; ++w) {
          const double prob = std::exp(-word_cost(pruned, history, w));
          sum += prob;
          ASSERT_NEAR(prob, expected.prob(pair == kNoNgram ? Words{b} : Words{a, b}, w), 1e-5);
        }
        ASSERT_NEAR(sum, 1, 1e-5);
      }
    }
    n_kept += kept.size();
  }
  EXPECT_GT(n_pruned, 100u);
  EXPECT_GT(n_kept, 30u * kWords + 100u);
}

TEST(Prune, ThresholdZeroKeepsEverything) {
  const PlainModel plain = random_model(1);
  const NgramModel pruned = prune(to_ngrams(plain), 0);
  size_t n = 0;
  for (const NgramLevel &level : pruned.levels) n += level.size();
  EXPECT_EQ(n, plain.listed.size());
}

}  // namespace
}  // namespace asr
