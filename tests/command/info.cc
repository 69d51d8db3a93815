// SPDX-License-Identifier: Apache-2.0
// Tests what the command prints of bundles whose names would change the terminal or forge lines.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

bool is_printable_ascii(const std::string &text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c < 127); });
}

TEST(Info, NamesInFilesArePrintable) {
  const std::string bundle = testing::TempDir() + "senone_info_" + std::to_string(getpid());
  std::filesystem::copy(tone_bundle(), bundle);
  std::ifstream in(bundle + "/senone.json");
  std::string index(std::istreambuf_iterator<char>(in), {});
  const std::string name = "\"name\": \"tones\"";
  ASSERT_NE(index.find(name), std::string::npos);
  index.replace(index.find(name), name.size(), "\"name\": \"a\\nforged\\u001b[2J\\u009b31m\\u202e\"");
  std::ofstream(bundle + "/senone.json") << index;
  const Outcome outcome = run_program("senone", "info " + bundle);
  std::filesystem::remove_all(bundle);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("name          a\\nforged\\x1b[2J\\u009b31m\\u202e\n"), std::string::npos) << outcome.output;
  EXPECT_TRUE(is_printable_ascii(outcome.output));
}

TEST(Info, MessagesAreOneLine) {
  const Outcome outcome = run_program("senone", "info \"$(printf '/no/such\\nsenone: forged \\033[2J')\"");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("senone: /no/such\\nsenone: forged \\x1b[2J"), std::string::npos) << outcome.output;
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
  EXPECT_TRUE(is_printable_ascii(outcome.output));
}

TEST(Info, ErrorsOfTheCommandLineAreOneLineAndAHint) {
  for (const char *const arguments :
       {"recognize --model x --beam \"$(printf 'a\\n\\033[2J')\" y", "info x \"$(printf 'a\\n\\033[2J')\""}) {
    const Outcome outcome = run_program("senone", arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.output.find("a\\n\\x1b[2J"), std::string::npos) << outcome.output;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 2) << outcome.output;
    EXPECT_TRUE(is_printable_ascii(outcome.output)) << outcome.output;
  }
}

}  // namespace
}  // namespace asr::test
