// SPDX-License-Identifier: Apache-2.0
#include "builder/align/dictionary_words.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

HmmSet three_phones() {
  HmmSet set;
  for (const char *name : {"AE", "B", "T"}) set.phones.push_back({name, false, 0});
  return set;
}

TEST(DictionaryWords, AreFoundHoweverTheyAreWritten) {
  const test::Scratch scratch;
  std::ofstream(scratch / "d.dict") << "bat B AE T\ndon't B AE\n-x T\nÉTÉ T AE\nBad XX\n";
  const HmmSet set = three_phones();
  DictionaryWords words(scratch / "d.dict", set, "", 1);
  const std::pair<const char *, const char *> pairs[] = {
      {"bat", "bat"}, {"BAT", "bat"}, {"Bat,", "bat"}, {"(bat)", "bat"},   {"\u201ebat\u201c", "bat"}, {"bat...", "bat"},
      {"-x", "-x"},   {"été", "ÉTÉ"}, {"été!", "ÉTÉ"}, {"don't", "don't"}, {"Don't.", "don't"},        {"'bat'", "bat"}};
  for (const auto &[written, form] : pairs) EXPECT_EQ(words.form_of(written), form) << written;
}

TEST(DictionaryWords, ThatAreMissingAreNamedWithTheRemedy) {
  const test::Scratch scratch;
  std::ofstream(scratch / "d.dict") << "bat B AE T\nbad B XX\n";
  const HmmSet set = three_phones();
  DictionaryWords words(scratch / "d.dict", set, "", 1);
  const auto message = [&](const char *word) -> std::string {
    try {
      return words.form_of(word);
    } catch (const Error &error) {
      return error.what();
    }
  };
  EXPECT_NE(message("tab").find("the word 'tab' is not in " + (scratch / "d.dict")), std::string::npos) << message("tab");
  EXPECT_NE(message("tab").find("asr_aligner_config.g2p"), std::string::npos);
  EXPECT_NE(message("bad").find("line 2 has the phone 'XX'"), std::string::npos) << message("bad");
  EXPECT_NE(message("...").find("the word '...'"), std::string::npos);
}

}  // namespace
}  // namespace asr
