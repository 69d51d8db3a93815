// SPDX-License-Identifier: Apache-2.0
#include "tools/word_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "core/base/error.h"

namespace asr::tool {
namespace {

Words words(const std::string &text) {
  Words all;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

// "S D I of N"
std::string errors(const std::string &ref, const std::string &hyp) {
  const WordErrors e = count_errors(align(words(ref), words(hyp)));
  return format("%zu %zu %zu of %zu", e.n_substitutions, e.n_deletions, e.n_insertions, e.n_ref_words);
}

TEST(WordErrors, CountsEachKind) {
  EXPECT_EQ(errors("a b c", "a b c"), "0 0 0 of 3");
  EXPECT_EQ(errors("a b c", "a x c"), "1 0 0 of 3");
  EXPECT_EQ(errors("a b c", "a c"), "0 1 0 of 3");
  EXPECT_EQ(errors("a b c", "a b x c"), "0 0 1 of 3");
  EXPECT_EQ(errors("a b c d e f", "x b d e f g"), "1 1 1 of 6");
  EXPECT_EQ(errors("a b", "c d e"), "2 0 1 of 2");
}

TEST(WordErrors, EmptySides) {
  EXPECT_EQ(errors("", ""), "0 0 0 of 0");
  EXPECT_EQ(errors("a b", ""), "0 2 0 of 2");
  EXPECT_EQ(errors("", "a b"), "0 0 2 of 0");
}

// The fewest errors by trying everything.
size_t fewest_errors(const Words &ref, const Words &hyp, size_t i, size_t j) {
  if (i == ref.size() || j == hyp.size()) return ref.size() - i + hyp.size() - j;
  const size_t pair = fewest_errors(ref, hyp, i + 1, j + 1) + (ref[i] != hyp[j]);
  const size_t gap = 1 + std::min(fewest_errors(ref, hyp, i + 1, j), fewest_errors(ref, hyp, i, j + 1));
  return std::min(pair, gap);
}

TEST(WordErrors, AlignmentIsBestAndHoldsAllWords) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Words ref(random() % 6), hyp(random() % 6);
    for (auto &word : ref) word = std::string(1, char('a' + random() % 3));
    for (auto &word : hyp) word = std::string(1, char('a' + random() % 3));
    Words ref_again, hyp_again;
    const auto alignment = align(ref, hyp);
    for (const AlignedPair &pair : alignment) {
      EXPECT_FALSE(pair.ref.empty() && pair.hyp.empty());
      if (!pair.ref.empty()) ref_again.push_back(pair.ref);
      if (!pair.hyp.empty()) hyp_again.push_back(pair.hyp);
    }
    EXPECT_EQ(ref_again, ref);
    EXPECT_EQ(hyp_again, hyp);
    EXPECT_EQ(count_errors(alignment).total(), fewest_errors(ref, hyp, 0, 0));
  }
}

TEST(WordErrors, PercentOfNothing) {
  EXPECT_EQ(percent(0, 0), 0);
  EXPECT_TRUE(std::isnan(percent(1, 0)));
  EXPECT_EQ(percent(1, 4), 25);
}

TEST(Transcripts, IdAtTheEnd) {
  const auto t = parse_transcripts("<s> he was(2) not </s> (utt-1)\r\n\n [NOISE] a (utt-2 -1234)\n(utt-3)\n", "ref", {});
  EXPECT_EQ(t, (Transcripts{{"utt-1", words("he was not")}, {"utt-2", words("a")}, {"utt-3", {}}}));
}

TEST(Transcripts, IdAtTheBeginning) {
  const auto t = parse_transcripts("utt-1 he was not\nutt-2\n  utt-3\tthe(2) ++UM++ end (x)\n", "ref", {});
  EXPECT_EQ(t, (Transcripts{{"utt-1", words("he was not")}, {"utt-2", {}}, {"utt-3", words("the end (x)")}}));
}

TEST(Transcripts, Options) {
  const std::string text = "u <sil> The(2) END\n";
  EXPECT_EQ(parse_transcripts(text, "ref", {}).at("u"), words("The END"));
  EXPECT_EQ(parse_transcripts(text, "ref", {true, true, false}).at("u"), words("<sil> The(2) END"));
  EXPECT_EQ(parse_transcripts(text, "ref", {false, false, true}).at("u"), words("the end"));
}

TEST(Transcripts, OddWordsAreKept) {
  EXPECT_EQ(parse_transcripts("u < > (2) a( b() ) ++ []\n", "ref", {}).at("u"), words("< > (2) a( b() ) ++ []"));
}

TEST(Transcripts, NothingThere) {
  EXPECT_TRUE(parse_transcripts("", "ref", {}).empty());
  EXPECT_TRUE(parse_transcripts("\n \t\r\n", "ref", {}).empty());
}

TEST(Transcripts, TwiceTheSameUtterance) {
  try {
    parse_transcripts("a (u)\nb (u)\n", "ref.txt", {});
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_BAD_FILE);
    EXPECT_STREQ(error.what(), "ref.txt: utterance \"u\" is there twice; each must have one line");
  }
}

}  // namespace
}  // namespace asr::tool
