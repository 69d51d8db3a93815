// SPDX-License-Identifier: Apache-2.0
#include "tools/ctm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"

namespace asr::tool {
namespace {

std::string message(const std::string &text) {
  try {
    parse_confident_words(text, "hyp.ctm", {});
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_BAD_FILE);
    return error.what();
  }
  return "no error";
}

TEST(Ctm, WordsOfUtterancesInTheirOrder) {
  const auto all = parse_confident_words(
      ";; a comment\nu1 1 0.00 0.50 the(2) 0.9\nu2 A 1 1 x 1\n\nu1 1 0.50 0.10 <sil> 0.8\nu1 1 0.60 0.20 cat 0.25\n", "hyp.ctm",
      {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at("u1").words, (Words{"the", "cat"}));
  EXPECT_EQ(all.at("u1").confidences, (std::vector<double>{0.9, 0.25}));
  EXPECT_EQ(all.at("u2").confidences, std::vector<double>{1});
}

TEST(Ctm, LinesOfJson) {
  const auto all = parse_confident_words(
      "{\"id\": \"u1\", \"words\": [{\"word\": \"a\", \"confidence\": 0.5}]}\n{\"id\": \"u2\", \"error\": \"no such file\"}\n",
      "hyp.json", {});
  EXPECT_EQ(all.at("u1").words, Words{"a"});
  EXPECT_EQ(all.at("u1").confidences, std::vector<double>{0.5});
  EXPECT_TRUE(all.at("u2").words.empty());
}

TEST(Ctm, RejectedUtterancesHaveNoWords) {
  const auto all = parse_confident_words(
      "{\"id\": \"u1\", \"rejected\": true, \"words\": [{\"word\": \"a\", \"confidence\": 0.5}]}\n"
      "{\"id\": \"u2\", \"rejected\": null, \"words\": [{\"word\": \"b\", \"confidence\": 0.5}]}\n"
      "{\"id\": \"u3\", \"rejected\": false, \"words\": [{\"word\": \"c\", \"confidence\": 0.5}]}\n",
      "hyp.json", {});
  EXPECT_TRUE(all.at("u1").words.empty());
  EXPECT_EQ(all.at("u2").words, Words{"b"});
  EXPECT_EQ(all.at("u3").words, Words{"c"});
}

TEST(Ctm, MistakesAreReportedWithTheirLine) {
  EXPECT_NE(message("u1 1 0 1 a 0.5\nu1 1 0 1 a\n").find("hyp.ctm: line 2: "), std::string::npos);
  EXPECT_NE(message("u1 1 0 1 a 1.5\n").find("within 0 ... 1"), std::string::npos);
  EXPECT_NE(message("u1 1 0 1 a nan\n").find("within 0 ... 1"), std::string::npos);
  EXPECT_NE(message("u1 1 0 1 a 0.5x\n").find("not a number"), std::string::npos);
  EXPECT_NE(message("{\"id\": 3}\n").find("JSON"), std::string::npos);
  EXPECT_NE(message("{\"id\": \"u\", \"words\": [{\"word\": \"a\"}]}\n").find("confidence"), std::string::npos);
  const std::string nested = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_NE(message("{\"id\": \"u\", \"words\": " + nested + "}\n").find("nested more than 32 deep"), std::string::npos);
}

TEST(CrossEntropy, IsAShareOfWhatIsNotKnown) {
  CrossEntropy knows_the_share, certain, mistaken;
  for (int i = 0; i < 8; ++i) {
    const bool right = i % 4 != 0;
    knows_the_share.add(right, 0.75);
    certain.add(right, right ? 1 : 0);
    mistaken.add(right, right ? 0 : 1);
  }
  EXPECT_NEAR(knows_the_share.normalised(), 0, 1e-12);
  EXPECT_NEAR(certain.normalised(), 1, 1e-3);
  EXPECT_LT(mistaken.normalised(), -1);

  CrossEntropy by_hand;  // H = 2 bits; log2 0.75 + log2 0.75
  by_hand.add(true, 0.75);
  by_hand.add(false, 0.25);
  EXPECT_NEAR(by_hand.normalised(), (2 + 2 * std::log2(0.75)) / 2, 1e-12);

  CrossEntropy all_right;
  all_right.add(true, 0.5);
  EXPECT_TRUE(std::isnan(all_right.normalised()));
}

}  // namespace
}  // namespace asr::tool
