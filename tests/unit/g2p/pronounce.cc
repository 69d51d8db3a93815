// SPDX-License-Identifier: Apache-2.0
// Compares the search for pronunciations with enumerating all alignments of a small model.
#include "builder/g2p/pronounce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/unit/g2p/toy_dictionary.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;

// Returns −ln p(unit | preceding units), in nats, by the file's rounded costs.
double cost_after(const G2pModel &model, const std::vector<uint32_t> &history, uint32_t unit) {
  double backoff = 0;
  for (size_t begin = history.size() - std::min<size_t>(history.size(), model.order - 1);; ++begin) {
    uint32_t node = 0;
    const auto step = [&](uint32_t u) {
      const uint32_t child = model.lower_child(node, u);
      const bool found = child < model.end_child(node) && model.unit[child] == u;
      node = found ? child : 0;
      return found;
    };
    if (!std::all_of(history.begin() + static_cast<std::ptrdiff_t>(begin), history.end(), step)) continue;
    const uint32_t history_node = node;
    if (step(unit)) return (backoff + model.cost[node]) / kG2pCostsInNat;
    backoff += model.backoff[history_node];
  }
}

// Enumerates all alignments of `letters`, with at most three consecutive units without letters; sums their probabilities by
// phones.
struct BruteForce {
  const G2pModel &model;
  std::vector<uint16_t> letters;
  std::map<std::vector<uint32_t>, double> sums;

  void go_on(size_t at, uint32_t n_insertions, std::vector<uint32_t> *units, std::vector<uint32_t> *phones, double cost) {
    if (at == letters.size()) sums[*phones] += std::exp(-cost - cost_after(model, *units, kEnd));
    for (uint32_t u = kFirstUnit; u < model.units.size(); ++u) {
      const G2pUnit &unit = model.units[u];
      const bool inserts = unit.letter == kNoSymbol;
      if (inserts ? n_insertions == 3 : at == letters.size() || letters[at] != unit.letter) continue;
      const double next = cost + cost_after(model, *units, u);
      const size_t n_phones = phones->size();
      units->push_back(u);
      for (const uint16_t phone : unit.phones) {
        if (phone != kNoSymbol) phones->push_back(phone);
      }
      go_on(at + !inserts, inserts ? n_insertions + 1 : 0, units, phones, next);
      units->pop_back();
      phones->resize(n_phones);
    }
  }
};

void expect_same(const G2pModel &model, const std::string &word) {
  BruteForce all{model, {}, {}};
  for (const uint32_t letter : letters_of(word, "test")) all.letters.push_back(model.letter_number(letter));
  std::vector<uint32_t> units = {kBegin}, phones;
  all.go_on(0, 0, &units, &phones, 0);
  double total = 0;
  std::vector<std::pair<double, std::vector<uint32_t>>> expected;
  for (const auto &[spoken, sum] : all.sums) {
    total += sum;
    if (!spoken.empty()) expected.emplace_back(sum, spoken);
  }
  std::sort(expected.rbegin(), expected.rend());
  const std::vector<G2pResult> results = pronounce(model, word, {20, 1e9, 1e-9});
  ASSERT_EQ(results.size(), std::min<size_t>(20, expected.size())) << word;
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_NEAR(results[i].posterior, expected[i].first / total, 1e-9) << word << " " << i;
    EXPECT_NEAR(all.sums[results[i].phones] / total, results[i].posterior, 1e-9) << word << " " << i;
  }
}

// Units without letters make very many alignments, so longer words use a model without such units.
TEST(Pronounce, EqualsBruteForce) {
  std::string text = test::toy_dictionary();
  const size_t at = text.find("w D AH");
  text.erase(at, text.find('\n', at) + 1 - at);
  for (const uint32_t order : {1u, 2u, 3u, 6u}) {
    for (const char *word : {"x", "w", "s"}) expect_same(test::toy_model(order), word);
    for (const char *word : {"kn", "tax", "b\xc3\xa9x", "sikb"}) expect_same(test::toy_model(order, text), word);
  }
}

std::vector<std::string> said(const G2pModel &model, const std::string &word, size_t n_best) {
  std::vector<std::string> out;
  for (const G2pResult &result : pronounce(model, word, {n_best})) {
    out.emplace_back();
    for (const uint32_t phone : result.phones) out.back() += (out.back().empty() ? "" : " ") + model.phones[phone];
  }
  return out;
}

TEST(Pronounce, WordsOfTheDictionaryAndNewOnes) {
  const G2pModel model = test::toy_model();
  EXPECT_EQ(said(model, "knit", 1), (std::vector<std::string>{"N IH T"}));
  EXPECT_EQ(said(model, "fox", 1), (std::vector<std::string>{"F AA K S"}));
  EXPECT_EQ(said(model, "w", 1), (std::vector<std::string>{"D AH B Y UW"}));
  std::vector<std::string> both = said(model, "bass", 2);
  std::sort(both.begin(), both.end());
  EXPECT_EQ(both, (std::vector<std::string>{"B AE S", "B EY S"}));
}

TEST(Pronounce, PosteriorsFallAndSumToOneAtMost) {
  double sum = 0, last = 1;
  for (const G2pResult &result : pronounce(test::toy_model(), "knobax", {50})) {
    EXPECT_LE(result.posterior, last);
    last = result.posterior;
    sum += last;
  }
  EXPECT_GT(sum, 0.9);
  EXPECT_LE(sum, 1 + 1e-9);
}

TEST(Pronounce, RefusesWhatItCannotSay) {
  const G2pModel model = test::toy_model();
  expect_error([&] { pronounce(model, "caz", {}); }, ASR_INVALID_ARGUMENT, "'caz' has the letter 'z'");
  expect_error([&] { pronounce(model, "b\xc3\xa8", {}); }, ASR_INVALID_ARGUMENT, "the letter '\xc3\xa8'");
  expect_error([&] { pronounce(model, "b\xc3", {}); }, ASR_BAD_FILE, "is not UTF-8");
  expect_error([&] { pronounce(model, "", {}); }, ASR_INVALID_ARGUMENT, "has 0 letters");
  expect_error([&] { pronounce(model, std::string(101, 'b'), {}); }, ASR_INVALID_ARGUMENT, "has 101 letters");
  EXPECT_FALSE(pronounce(model, std::string(100, 'b'), {}).empty());
}

}  // namespace
}  // namespace asr
