// SPDX-License-Identifier: Apache-2.0
#include "tools/word_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "core/base/error.h"
#include "tests/unit/lattice/allocated.h"

namespace asr::tool {
namespace {

Words words(const std::string &text) {
  Words all;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

// Returns "S D I of N".
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

// Returns the fewest errors by enumeration.
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

// Aligns with the complete table, by the header's rules: pairs rather than gaps, seen from the end; deletions rather than
// insertions.
std::vector<AlignedPair> align_by_table(const Words &ref, const Words &hyp) {
  std::vector<std::vector<size_t>> e(ref.size() + 1, std::vector<size_t>(hyp.size() + 1));
  for (size_t i = 0; i <= ref.size(); ++i) {
    for (size_t j = 0; j <= hyp.size(); ++j) {
      e[i][j] = i + j;
      if (i > 0 && j > 0) e[i][j] = std::min({e[i - 1][j - 1] + (ref[i - 1] != hyp[j - 1]), e[i - 1][j] + 1, e[i][j - 1] + 1});
    }
  }
  std::vector<AlignedPair> alignment;
  for (size_t i = ref.size(), j = hyp.size(); i > 0 || j > 0;) {
    if (i > 0 && j > 0 && e[i][j] == e[i - 1][j - 1] + (ref[i - 1] != hyp[j - 1])) {
      alignment.push_back({ref[--i], hyp[--j]});
    } else if (i > 0 && e[i][j] == e[i - 1][j] + 1) {
      alignment.push_back({ref[--i], ""});
    } else {
      alignment.push_back({"", hyp[--j]});
    }
  }
  std::reverse(alignment.begin(), alignment.end());
  return alignment;
}

Words random_words(std::mt19937 *random, size_t n, unsigned n_different) {
  Words words(n);
  for (auto &word : words) word = std::string(1, char('a' + (*random)() % n_different));
  return words;
}

TEST(WordErrors, LongAlignmentsAreThoseOfTheWholeTable) {
  std::mt19937 random(3);
  for (const auto &[n_ref, n_hyp] : {std::pair{700u, 650u}, {1200u, 300u}, {300u, 1200u}, {1500u, 60u}, {2u, 40000u}}) {
    for (const unsigned n_different : {2u, 6u}) {
      const Words ref = random_words(&random, n_ref, n_different), hyp = random_words(&random, n_hyp, n_different);
      const auto expected = align_by_table(ref, hyp), found = align(ref, hyp);
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].ref, expected[i].ref) << n_ref << " and " << n_hyp << " words, column " << i;
        ASSERT_EQ(found[i].hyp, expected[i].hyp) << n_ref << " and " << n_hyp << " words, column " << i;
      }
    }
  }
}

TEST(WordErrors, LongAlignmentsNeedLittleMemory) {
  std::mt19937 random(3);
  const Words ref = random_words(&random, 3000, 20), hyp = random_words(&random, 3000, 20);
  const test::PeakMemory peak;
  align(ref, hyp);
  EXPECT_LE(peak.bytes(), 1u << 20);
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

TEST(Transcripts, ParenthesesInWordsAndIds) {
  const auto t = parse_transcripts("(laughs) a (u-1)\n(b) (c) (name(1).wav)\n(u-3 (2))\n", "ref", {});
  EXPECT_EQ(t, (Transcripts{{"u-1", words("(laughs) a")}, {"name(1).wav", words("(b) (c)")}, {"u-3", {}}}));
}

TEST(Transcripts, NothingThere) {
  EXPECT_TRUE(parse_transcripts("", "ref", {}).empty());
  EXPECT_TRUE(parse_transcripts("\n \t\r\n", "ref", {}).empty());
}

TEST(Transcripts, CaseOfAllLettersIsIgnored) {
  const auto folded = [](const char *text) { return parse_transcripts(text, "ref", {false, false, true}).at("u"); };
  EXPECT_EQ(folded("u \u00c9T\u00c9 Stra\u00dfe"), folded("u \u00e9t\u00e9 STRASSE"));
  EXPECT_NE(folded("u \u00e9t\u00e9"), folded("u ete"));
}

TEST(Transcripts, LinesWithTimesAreRefused) {
  const auto refusal = [](const std::string &text) {
    try {
      parse_transcripts(text, "hyp", {});
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char *ctm : {"u 1 0.46 0.18 go\n", ";; c\nu A 0.46 0.18 go 0.9\nu A 0.7 0.2 on 0.8\n"}) {
    EXPECT_NE(refusal(ctm).find("hyp: is a CTM, whose lines have times; give lines"), std::string::npos) << refusal(ctm);
  }
  EXPECT_NE(refusal("u 1 spk 0.0 2.25 <o,f0> go on\n").find("hyp: is an STM"), std::string::npos);
  EXPECT_EQ(refusal("u 1 2 3 4 5\nv 3.5 times 4\n"), "");  // digits
  EXPECT_EQ(refusal("u 1 0.46 0.18 go\nv go on\n"), "");   // not every line
  EXPECT_EQ(refusal("costs from 2.50 1.25 dollars (u)\n"), "");
  EXPECT_EQ(refusal("u costs 2.50 1.25 dollars and no more\n"), "");
  EXPECT_EQ(refusal(";; none\n"), "");
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

TEST(Transcripts, EmptyId) {
  try {
    parse_transcripts("a (u)\nb ( )\n", "ref.txt", {});
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_BAD_FILE);
    EXPECT_STREQ(error.what(), "ref.txt: \"b ( )\" has no utterance's name in its parentheses; give one");
  }
}

}  // namespace
}  // namespace asr::tool
