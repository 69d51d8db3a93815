// SPDX-License-Identifier: Apache-2.0
// Tests `senone recognize --reject` on real speech.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// The grammar has three of five recordings.
TEST(RecognizeRejection, OfRealSpeech) {
  const char *const data = std::getenv("SENONE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string root = data, an4 = root + "/an4", folder = tone_bundle() + "/spoken";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/three.gram") << "#JSGF V1.0; grammar three; public <s> = RUBOUT G M E F THREE NINE "
                                           "| ERASE C Q Q F SEVEN | B A O Z FIVE THREE;";
  const std::string bundle = folder + "/bundle";
  ASSERT_EQ(run_program("senone", "import sphinx " + root + "/cmusphinx_an4_cont8 " + bundle).exit_code, 0);
  const auto recognise = [&](const std::string &options, int number) {
    return run_program("senone", "recognize --quiet --device cpu --model " + bundle + " " + options + " " + an4 +
                                     "/sphere/an4" + (number < 10 ? "0" : "") + std::to_string(number) + "-fcaw-b.sph")
        .output;
  };
  EXPECT_NE(recognise("--reject 0.5", 6).find("has no graph.bin"), std::string::npos);
  ASSERT_EQ(
      run_program("senone", "graph --model " + bundle + " --lexicon " + an4 + "/etc/an4.dic --jsgf " + folder + "/three.gram")
          .exit_code,
      0);
  for (const int number : {6, 7, 8}) {
    EXPECT_NE(recognise("--json --reject", number).find("\"rejected\":false"), std::string::npos) << number;
  }
  EXPECT_NE(recognise("--json --reject 0.5", 10).find("\"rejected\":true"), std::string::npos);
  EXPECT_EQ(recognise("--reject", 10).substr(0, 1), "\n");
  EXPECT_EQ(recognise("--reject", 7).substr(0, 5), "ERASE");
  for (const auto &[format, mark] : {std::pair("--ctm", "-fcaw-b 1 "), std::pair("--srt", "-->")}) {
    const std::string options = std::string("--reject 0.5 ") + format;
    EXPECT_EQ(recognise(options, 10).find(mark), std::string::npos) << format;
    EXPECT_NE(recognise(options, 7).find(mark), std::string::npos) << format;
  }
  EXPECT_EQ(recognise("--json", 10).find("rejected"), std::string::npos);
  EXPECT_EQ(recognise("--json --reject off", 10).find("out_of_grammar"), std::string::npos);
}

}  // namespace
}  // namespace asr::test
