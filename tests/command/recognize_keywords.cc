// SPDX-License-Identifier: Apache-2.0
// Tests `senone graph --keywords` and garbage in grammars on real speech.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/file.h"
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// The model of AN4, and recordings of one of its speakers: 06 RUBOUT G M E F THREE NINE, 07 ERASE C Q Q F SEVEN,
// 08 B A O Z FIVE THREE, 09 GO, 10 RUBOUT N I M N ONE.
class RecognizeKeywords : public testing::Test {
 protected:
  void SetUp() override {
    const char *const data = std::getenv("SENONE_TEST_DATA");
    if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
    an4_ = std::string(data) + "/an4";
    folder_ = tone_bundle() + "/keywords";
    std::filesystem::create_directories(folder_);
    if (std::filesystem::exists(folder_ + "/bundle")) return;
    ASSERT_EQ(
        run_program("senone", "import sphinx " + std::string(data) + "/cmusphinx_an4_cont8 " + folder_ + "/bundle").exit_code,
        0);
  }

  Outcome graph(const std::string &option, const std::string &text) const {
    std::ofstream(folder_ + "/source") << text;
    return run_program("senone", "graph --model " + folder_ + "/bundle --lexicon " + an4_ + "/etc/an4.dic " + option + " " +
                                     folder_ + "/source 2>&1");
  }

  // Returns the line of the result.
  std::string recognise(const std::string &options, const char *number) const {
    const std::string output = run_program("senone", "recognize --quiet --device cpu --model " + folder_ + "/bundle " +
                                                         options + " " + an4_ + "/sphere/an4" + number + "-fcaw-b.sph")
                                   .output;
    return output.substr(0, output.find('\n'));
  }

  std::string an4_, folder_;
};

TEST_F(RecognizeKeywords, AreFoundAnywhere) {
  ASSERT_EQ(graph("--keywords", "RUBOUT {DELETE} /0.002/\nERASE /0.01/\nTHREE NINE /0.1/\nENTER\n").exit_code, 0);
  EXPECT_EQ(recognise("", "06"), "THREE NINE");
  EXPECT_EQ(recognise("", "07"), "ERASE");
  EXPECT_EQ(recognise("", "08"), "");
  EXPECT_EQ(recognise("", "10"), "RUBOUT");
  EXPECT_NE(recognise("--json", "06").find("\"rule\":\"THREE NINE\""), std::string::npos);
  EXPECT_NE(recognise("--json", "10").find("\"tags\":[\"DELETE\"]"), std::string::npos);
  EXPECT_NE(recognise("--json", "08").find("\"no_speech\""), std::string::npos);
  EXPECT_EQ(recognise("--reject 0.001", "06"), "");  // another threshold for all of them
}

// The same holds for alternatives, whatever the best path has: there are only the words of sure keywords, and none of them
// twice.
TEST_F(RecognizeKeywords, OfAlternativesHaveThresholdsToo) {
  ASSERT_EQ(graph("--keywords", "ENTER\nNINE\nSEVEN\nH\nM\n").exit_code, 0);
  for (const char *number : {"06", "07", "08", "09", "10"}) {
    const std::string found = recognise("--json --lattice-beam 12 --nbest 20", number);
    EXPECT_NE(found.find("\"words\":[]"), std::string::npos) << found;
    EXPECT_EQ(found.find("\"word\":"), std::string::npos) << found;
    EXPECT_EQ(found.find("\"others\":[{"), std::string::npos) << found;
  }
}

TEST_F(RecognizeKeywords, ThatOfAnArchiveHaveItsThresholds) {
  const std::string archive = folder_ + "/keywords.sgraph";
  ASSERT_EQ(graph("--archive " + archive + " --keywords", "RUBOUT /1/\n").exit_code, 0);
  EXPECT_NE(read_file(archive).find("\"RUBOUT\": 1.0"), std::string::npos);
}

TEST_F(RecognizeKeywords, ListsThatAreNotTaken) {
  const Outcome outcome = graph("--keywords", "RUBOUT /1e-20/\n");
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("line 1, column 8: /1e-20/ is not a threshold"), std::string::npos) << outcome.output;
}

TEST_F(RecognizeKeywords, GarbageOfAGrammarIsNeitherPrintedNorRejected) {
  ASSERT_EQ(graph("--jsgf", "#JSGF V1.0; grammar g; public <s> = (RUBOUT | ERASE) <GARBAGE> (NINE | SEVEN | ONE);").exit_code,
            0);
  EXPECT_EQ(recognise("--reject 0.8", "06"), "RUBOUT NINE");
  EXPECT_EQ(recognise("--reject 0.8", "07"), "ERASE SEVEN");
  EXPECT_EQ(recognise("--reject 0.8", "10"), "RUBOUT ONE");
  EXPECT_EQ(recognise("--reject 0.8", "08"), "");  // rejected
}

}  // namespace
}  // namespace asr::test
