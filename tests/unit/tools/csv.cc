// SPDX-License-Identifier: Apache-2.0
#include "tools/csv.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace asr::tool {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> fields_of(const std::string &text) {
  std::vector<Fields> rows;
  for (const CsvRow &row : parse_csv(text, "t")) rows.push_back(row.fields);
  return rows;
}

TEST(Csv, FieldsStandBetweenSeparators) {
  const std::vector<Fields> expected = {{"path", "text"}, {"a b.wav", "one two"}, {"", ""}};
  EXPECT_EQ(fields_of("path,text\na b.wav,one two\n,\n"), expected);
  EXPECT_EQ(fields_of("path,text\n\na b.wav,one two\n,"), expected);
  EXPECT_EQ(fields_of("path;text\na b.wav;one two\n;\n"), expected);
  EXPECT_EQ(fields_of("path\ttext\na b.wav\tone two\n\t"), expected);
  EXPECT_EQ(fields_of("\"path\";text\na b.wav;\"one two\"\n;"), expected);
  EXPECT_TRUE(fields_of("").empty());
  EXPECT_TRUE(fields_of("\n\n").empty());
}

TEST(Csv, QuotedFieldsHaveAnything) {
  EXPECT_EQ(fields_of("\"a;b\",\"say \"\"yes\"\", please\"\n\"two\nlines\",\"\"\n"),
            (std::vector<Fields>{{"a;b", "say \"yes\", please"}, {"two\nlines", ""}}));
  EXPECT_EQ(fields_of("a,the 5\" disk\n"), (std::vector<Fields>{{"a", "the 5\" disk"}}));
  const std::vector<CsvRow> rows = parse_csv("a,b\n\"1\n2\",3\n4,5\n", "t");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].line, 2u);
  EXPECT_EQ(rows[2].line, 4u);
}

TEST(Csv, DamageIsNamedWithItsLine) {
  for (const auto &[text, message] :
       {std::pair("a,b\n1,\"two\nthree", "t: line 2: has a quote without an end"),
        std::pair("a,b\n\"x\"y,2\n", "t: line 2: has text"), std::pair("\"", "t: line 1: has a quote without an end")}) {
    try {
      parse_csv(text, "t");
      ADD_FAILURE() << text;
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ASR_BAD_FILE);
      EXPECT_EQ(std::string(error.what()).rfind(message, 0), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace asr::tool
