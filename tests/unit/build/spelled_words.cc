// SPDX-License-Identifier: Apache-2.0
// Tests the spelling of words in tokens.
#include "builder/graph/spelled_words.h"

#include <gtest/gtest.h>

namespace asr {
namespace {

struct Speller {
  HmmSet set;
  ScoreModel scores;

  // Token 0 is the blank.
  explicit Speller(const std::vector<std::string> &names, std::vector<float> of_pieces = {}) {
    set.phones.push_back({"<blank>", false, 0});
    for (const std::string &name : names) set.phones.push_back({name, false, 0});
    scores.blank = 0;
    if (!of_pieces.empty()) of_pieces.insert(of_pieces.begin(), 0);
    scores.piece_scores = std::move(of_pieces);
  }

  std::string spell(const std::string &word) const {
    SpelledWords words(set, scores);
    if (!words.pronounces(word)) return "-";
    std::string text;
    for (const uint32_t token : words.words().at(word).at(0)) text += (text.empty() ? "" : " ") + set.phones[token].name;
    return text;
  }
};

TEST(SpelledWords, CharactersSpellLetterByLetter) {
  const Speller tokens({"A", "B", "\xc3\x84"});
  EXPECT_EQ(tokens.spell("AB\xc3\x84"), "A B \xc3\x84");
  EXPECT_EQ(tokens.spell("ABC"), "-");
  EXPECT_EQ(tokens.spell("<blank>"), "-");
}

TEST(SpelledWords, PiecesAreFewAndTheFirstIsLong) {
  const Speller tokens({"a", "b", "c", "ab", "bc", "abc"});
  EXPECT_EQ(tokens.spell("abc"), "abc");
  EXPECT_EQ(tokens.spell("aabc"), "a abc");
  EXPECT_EQ(Speller({"a", "b", "c", "ab", "bc"}).spell("abc"), "ab c");
}

TEST(SpelledWords, ProbablePiecesHaveTheGreatestSum) {
  const std::vector<std::string> names = {"\xe2\x96\x81", "\xe2\x96\x81l", "lo", "w", "o", "ow", "l"};
  EXPECT_EQ(Speller(names, {-5.5f, -3.5f, -2.5f, -2.25f, -4.5f, -1.5f, -4.25f}).spell("low"), "\xe2\x96\x81l ow");
  EXPECT_EQ(Speller(names, {-1.5f, -8.5f, -1.5f, -1.25f, -4.5f, -3.5f, -4.25f}).spell("low"), "\xe2\x96\x81 lo w");
}

TEST(SpelledWords, PairsAreJoinedByRank) {
  // Pairs: lo (0), low (-1), er (-2), and what are no pairs later.
  const Speller tokens({"lo", "low", "er", "\xe2\x96\x81", "l", "o", "w", "e", "r"}, {0, -1, -2, -3, -4, -5, -6, -7, -8});
  EXPECT_EQ(tokens.spell("lower"), "\xe2\x96\x81 low er");
  EXPECT_EQ(tokens.spell("wolo"), "\xe2\x96\x81 w o lo");
  EXPECT_EQ(tokens.spell("x"), "-");
}

}  // namespace
}  // namespace asr
