// SPDX-License-Identifier: Apache-2.0
// Tests dictionaries as words with letters and phones.
#include "builder/g2p/dictionary.h"

#include <gtest/gtest.h>

#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;

TEST(Pronunciations, VariantsBelongToTheirWord) {
  const Pronunciations read = parse_pronunciations(";; c\nto T UW\nto(2) T AH\na\tA\r\nto(3) T UW\n\n(x X\n", "d.dict");
  ASSERT_EQ(read.words.size(), 3u);
  EXPECT_EQ(read.phones, (std::vector<std::string>{"A", "AH", "T", "UW", "X"}));
  EXPECT_EQ(read.words[0].word, "(x");
  EXPECT_EQ(read.words[2].word, "to");
  EXPECT_EQ(read.words[2].pronunciations, (std::vector<std::vector<uint32_t>>{{2, 3}, {2, 1}}));
}

// Endings of Kaldi's positions follow from the place in the word.
TEST(Pronunciations, EndingsOfPositionsAreTakenOff) {
  const Pronunciations read = parse_pronunciations("<eps> SIL\nhello HH_B AH_I L_I OW_E\na AH_S\noh OW_S\n", "d.dict");
  EXPECT_TRUE(read.had_positions);
  EXPECT_EQ(read.phones, (std::vector<std::string>{"AH", "HH", "L", "OW", "SIL"}));
  for (const char *text : {"x A_B B_I\n", "x A_B B_E\ny A B\n", "x A_S\n", "x _B _E\n"}) {
    EXPECT_FALSE(parse_pronunciations(text, "d.dict").had_positions) << text;
  }
}

TEST(Pronunciations, RefusesOtherFiles) {
  expect_error([] { parse_pronunciations("## only\n", "d.dict"); }, ASR_BAD_FILE, "d.dict: no words in it");
  expect_error([] { parse_pronunciations("a A\nb\n", "d.dict"); }, ASR_BAD_FILE, "d.dict: line 2: 'b' has no phones");
}

TEST(Pronunciations, RefusesGrammarsOfJulius) {
  expect_error([] { parse_pronunciations("0\t[go]\tG OW\n0 [on] AA N\n1 [<s>] sil\n", "menu.dict"); }, ASR_BAD_FILE,
               "menu.dict: has a number and an output in every line, as Julius's dictionaries of grammars");
  EXPECT_EQ(parse_pronunciations("0 [0] O\n1 [1] W AH N\n", "digits").words.size(), 2u);  // HTK's
  EXPECT_EQ(parse_pronunciations("0 [zero] O\n1 W AH N\n", "digits").words.size(), 2u);   // not every line
}

TEST(Letters, AreCodePoints) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
  const std::vector<uint32_t> letters = letters_of(text, "t");
  EXPECT_EQ(letters, (std::vector<uint32_t>{'a', 0xe9, 0x20ac, 0x1f600}));
  std::string again;
  for (const uint32_t letter : letters) again += letter_text(letter);
  EXPECT_EQ(again, text);
}

TEST(Letters, RefusesWhatIsNotUtf8) {
  // Alone, truncated, too long a form, a surrogate, too large, not a first byte.
  for (const char *text :
       {"\x80", "a\xc3", "\xc3(", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    expect_error([&] { letters_of(text, "t"); }, ASR_BAD_FILE, "is not UTF-8");
  }
}

}  // namespace
}  // namespace asr
