// SPDX-License-Identifier: Apache-2.0
// Tests units of letters and phones, and their estimation.
#include "builder/g2p/alignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/g2p/toy_dictionary.h"

namespace asr {
namespace {

struct Toy {
  Pronunciations dictionary = parse_pronunciations(test::toy_dictionary(), "toy");
  std::vector<SpelledWord> words;
  std::vector<std::string> texts;
  AlignedWords aligned;

  Toy() {
    for (const PronouncedWord &word : dictionary.words) {
      for (const auto &pronunciation : word.pronunciations) {
        SpelledWord spelled;
        for (const uint32_t letter : letters_of(word.word, "toy")) spelled.letters.push_back(static_cast<uint16_t>(letter));
        spelled.phones.assign(pronunciation.begin(), pronunciation.end());
        words.push_back(spelled);
        texts.push_back(word.word);
      }
    }
    aligned = align_words(words, [](double) {});
  }

  std::string symbol(uint16_t phone) const { return phone == kNoSymbol ? "" : dictionary.phones[phone]; }

  // Returns for example "k: n:N i:IH t:T".
  std::string way_of(const std::string &word) const {
    const auto at = std::find(texts.begin(), texts.end(), word) - texts.begin();
    std::string text;
    for (const uint32_t number : aligned.words[static_cast<size_t>(at)]) {
      const G2pUnit &unit = aligned.units[number];
      text += (text.empty() ? "" : " ") + (unit.letter == kNoSymbol ? "" : letter_text(unit.letter)) + ":" +
              symbol(unit.phones[0]) + symbol(unit.phones[1]);
    }
    return text;
  }
};

TEST(Alignment, FindsTheUnitsOfAToyDictionary) {
  const Toy toy;
  EXPECT_EQ(toy.aligned.n_left_out, 0u);
  EXPECT_EQ(toy.way_of("knit"), "k: n:N i:IH t:T");
  EXPECT_EQ(toy.way_of("box"), "b:B o:AA x:KS");
  EXPECT_EQ(toy.way_of("cat"), "c:K a:AE t:T");
  EXPECT_EQ(toy.way_of("sax"), "s:S a:AE x:KS");
}

TEST(Alignment, UnitsWithoutLettersAreForWordsThatNeedThem) {
  const Toy toy;
  for (size_t i = 0; i < toy.words.size(); ++i) {
    const bool inserts = std::any_of(toy.aligned.words[i].begin(), toy.aligned.words[i].end(),
                                     [&](uint32_t unit) { return toy.aligned.units[unit].letter == kNoSymbol; });
    EXPECT_EQ(inserts, toy.texts[i] == "w") << toy.texts[i];
  }
}

TEST(Alignment, UnitsSpellEachWordAndAreSorted) {
  const Toy toy;
  for (size_t i = 0; i < toy.words.size(); ++i) {
    SpelledWord spelled;
    for (const uint32_t number : toy.aligned.words[i]) {
      const G2pUnit &unit = toy.aligned.units[number];
      if (unit.letter != kNoSymbol) spelled.letters.push_back(unit.letter);
      for (const uint16_t phone : unit.phones) {
        if (phone != kNoSymbol) spelled.phones.push_back(phone);
      }
    }
    EXPECT_EQ(spelled.letters, toy.words[i].letters);
    EXPECT_EQ(spelled.phones, toy.words[i].phones);
  }
  for (size_t i = 1; i < toy.aligned.units.size(); ++i) EXPECT_LT(toy.aligned.units[i - 1], toy.aligned.units[i]);
}

TEST(Alignment, LikelihoodNeverDecreases) {
  const Toy toy;
  const std::vector<double> &values = toy.aligned.log_likelihoods;
  ASSERT_GE(values.size(), 5u);
  for (size_t i = 1; i < values.size(); ++i) EXPECT_GE(values[i], values[i - 1] - 1e-9) << i;
  EXPECT_GT(values.back(), values.front() + 10);
}

// One word with countable alignments: "ab" with one phone has a: b:X, a:X b:, so each unit counts one half.
TEST(Alignment, LikelihoodIsThatOfAllWays) {
  const AlignedWords aligned = align_words({{{0, 1}, {0}}}, [](double) {});
  // Four units of probability 1/4 make two alignments of 1/16 at first; the maximum is four units of 1/4, too.
  EXPECT_NEAR(aligned.log_likelihoods.front(), std::log(2.0 / 16), 1e-12);
  EXPECT_NEAR(aligned.log_likelihoods.back(), std::log(2.0 / 16), 1e-12);
}

TEST(Alignment, WordsWithoutAWayAreLeftOut) {
  const AlignedWords aligned = align_words({{{0}, {0}}, {{}, {}}}, [](double) {});
  EXPECT_EQ(aligned.words.size(), 1u);
  EXPECT_EQ(aligned.n_left_out, 1u);
}

}  // namespace
}  // namespace asr
