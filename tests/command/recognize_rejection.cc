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
    EXPECT_NE(recognise("--json", number).find("\"rejected\":false"), std::string::npos) << number;
  }
  // The grammar does not hold the tenth. Words that are rejected are in JSON only, unless asked for.
  EXPECT_NE(recognise("--json", 10).find("\"rejected\":true"), std::string::npos);
  EXPECT_NE(recognise("--json", 10).find("\"flags\":[\"rejected\"]"), std::string::npos);
  EXPECT_EQ(recognise("", 10).substr(0, 1), "\n");
  EXPECT_NE(recognise("", 10).find("1 of 1 utterances were rejected"), std::string::npos);
  EXPECT_EQ(recognise("--hyp -", 10).substr(0, 1), "(");
  EXPECT_EQ(recognise("", 7).substr(0, 5), "ERASE");
  EXPECT_EQ(recognise("", 7).find("rejected"), std::string::npos);
  EXPECT_NE(recognise("--keep-rejected", 10).substr(0, 1), "\n");
  EXPECT_NE(recognise("--reject off", 10).substr(0, 1), "\n");
  for (const auto &[format, mark] : {std::pair("--ctm", "-fcaw-b 1 "), std::pair("--srt", "-->")}) {
    EXPECT_EQ(recognise(format, 10).find(mark), std::string::npos) << format;
    EXPECT_NE(recognise(std::string(format) + " --keep-rejected", 10).find(mark), std::string::npos) << format;
    EXPECT_NE(recognise(format, 7).find(mark), std::string::npos) << format;
  }
  for (const char *part : {"\"out_of_grammar\":null", "\"rejected\":null", "\"lattice_beam\":null"}) {
    EXPECT_NE(recognise("--json --reject off", 10).find(part), std::string::npos) << part;
  }
  EXPECT_NE(recognise("--json --confidence", 7).find("\"lattice_beam\":8.0"), std::string::npos);
}

// Speech that stops within the sentence "low mid" of a grammar. Without a comparison it is heard as far as it goes, with a
// warning, unless --strict leaves it out.
TEST(RecognizeRejection, OfHalfASentence) {
  const std::string whole = tone_recording("low mid"), half = tone_recording("low");
  std::filesystem::resize_file(half, 2 * 16000 * 45 / 100);  // in the middle of the word
  const auto recognise = [bundle = tone_sentence_with_background()](const std::string &arguments) {
    return run_program("senone", "recognize --quiet --device cpu --beam 5 --model " + bundle + " " + arguments).output;
  };
  const std::string warning = "stops in the middle of a sentence", counted = "1 of 1 utterances did not reach the end",
                    word = " low\n";  // of a CTM
  EXPECT_NE(recognise("--ctm --reject off " + half).find(word), std::string::npos);
  EXPECT_EQ(recognise("--ctm --reject off --strict " + half).find(word), std::string::npos);
  EXPECT_EQ(recognise("--ctm " + half).find(word), std::string::npos);
  EXPECT_NE(recognise("--ctm --keep-rejected " + half).find(word), std::string::npos);
  EXPECT_EQ(recognise("--ctm --keep-rejected --strict " + half).find(word), std::string::npos);
  for (const char *options : {"", "--strict ", "--reject off ", "--reject off --strict ", "--keep-rejected "}) {
    SCOPED_TRACE(options);
    const std::string of_half = recognise(options + half), of_whole = recognise(options + whole);
    EXPECT_NE(of_half.find(warning), std::string::npos) << of_half;
    EXPECT_NE(of_half.find(counted), std::string::npos) << of_half;
    EXPECT_EQ(of_whole.find(warning), std::string::npos) << of_whole;
    EXPECT_EQ(of_whole.find(counted), std::string::npos) << of_whole;
    EXPECT_NE(of_whole.find("low mid"), std::string::npos) << of_whole;
  }
  EXPECT_NE(recognise("--json --strict " + half).find("\"flags\":[\"not_final_state\",\"rejected\"]"), std::string::npos);
  EXPECT_NE(recognise("--json --strict " + half).find("\"text\":\"low\""), std::string::npos);
}

}  // namespace
}  // namespace asr::test
