// SPDX-License-Identifier: Apache-2.0
#include "tools/text_grid.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace asr::tool {
namespace {

TEST(TextGrid, IsReadAsItIsWritten) {
  const std::vector<IntervalTier> tiers = {{"words", {{0.5, 1, "a \"b\""}, {1, 1.25, "c"}}}, {"ph\"ones", {}}};
  const std::string text = text_grid(tiers, 2);
  const std::vector<IntervalTier> read = parse_text_grid(text, "t").tiers;
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].name, "words");
  ASSERT_EQ(read[0].intervals.size(), 4u);  // with those between them
  EXPECT_EQ(read[0].intervals[0].label, "");
  EXPECT_EQ(read[0].intervals[1].label, "a \"b\"");
  EXPECT_EQ(read[0].intervals[1].begin_s, 0.5);
  EXPECT_EQ(read[0].intervals[2].end_s, 1.25);
  EXPECT_EQ(read[0].intervals[3].end_s, 2);
  EXPECT_EQ(read[1].name, "ph\"ones");
  EXPECT_EQ(read[1].intervals.size(), 1u);
}

TEST(TextGrid, TheShortFormatAndTiersOfPoints) {
  const TextGrid grid = parse_text_grid(
      "File type = \"ooTextFile\"\nObject class = "
      "\"TextGrid\"\n\n0\n1.5\n<exists>\n2\n\"TextTier\"\n\"clicks\"\n0\n1.5\n1\n0.7\n"
      "\"click\"\n\"IntervalTier\"\n\"said\"\n0\n1.5\n2\n0\n0.5\n\"\"\n0.5\n1.5\n\"yes\"\n",
      "t");
  EXPECT_EQ(grid.point_tiers, std::vector<std::string>{"clicks"});
  const std::vector<IntervalTier> &read = grid.tiers;
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].name, "said");
  ASSERT_EQ(read[0].intervals.size(), 2u);
  EXPECT_EQ(read[0].intervals[1].label, "yes");
}

TEST(TextGrid, Utf8AndUtf16) {
  const std::string text = text_grid({{"words", {{0, 1, "\u00e9t\u00e9"}}}}, 1);
  std::string little, big;  // the letters are below U+0100
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_long = static_cast<unsigned char>(text[i]) == 0xc3;
    const char c = is_long ? static_cast<char>(text[++i] + 0x40) : text[i];
    little += {c, '\0'};
    big += {'\0', c};
  }
  for (const std::string &bytes : {text, "\xef\xbb\xbf" + text, "\xff\xfe" + little, "\xfe\xff" + big}) {
    const TextGrid grid = parse_text_grid(bytes, "t");
    ASSERT_EQ(grid.tiers.size(), 1u);
    EXPECT_EQ(grid.tiers[0].intervals[0].label, "\u00e9t\u00e9");
  }
  const std::pair<std::string, const char *> kRefused[] = {
      {std::string("ooBinaryFile\x08TextGrid\0\0", 23), "is a binary file of Praat; save it there as a text file"},
      {little, "iconv -f UTF-16LE"},
      {"\xff\xfe" + little.substr(0, little.size() - 9), "ends within a quoted text"}};
  for (const auto &[bytes, message] : kRefused) {
    try {
      parse_text_grid(bytes, "t");
      ADD_FAILURE() << message;
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

TEST(TextGrid, DamagedOnesAreRefused) {
  const std::string whole = text_grid({{"words", {{0, 1, "a"}}}}, 1);
  for (size_t n = 0; n + 3 < whole.size(); ++n) {
    try {
      parse_text_grid(whole.substr(0, n), "t");
      ADD_FAILURE() << n;
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ASR_BAD_FILE);
      EXPECT_EQ(std::string(error.what()).rfind("t: ", 0), 0u);
    }
  }
  EXPECT_THROW(parse_text_grid("no TextGrid", "t"), Error);
  EXPECT_THROW(parse_text_grid("\"ooTextFile\" \"TextGrid\" 0 1 <exists> 99999999", "t"), Error);
}

}  // namespace
}  // namespace asr::tool
