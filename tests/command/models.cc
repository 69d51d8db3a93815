// SPDX-License-Identifier: Apache-2.0
// Tests installed bundles: how they are listed, and how recognize finds them without a path.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"
#include "tests/build/tone_model.h"

namespace asr::test {
namespace {

namespace fs = std::filesystem;

// Returns the first line that `senone recognize` prints; the last is its summary.
std::string words(const std::string &arguments) {
  const std::string output = run_program("senone", "recognize " + arguments).output;
  return output.substr(0, output.find('\n'));
}

class Models : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(first_);
    fs::create_directories(second_);
    setenv("SENONE_MODEL_PATH", (first_.string() + ":relative::" + second_.string()).c_str(), 1);
  }
  void TearDown() override {
    unsetenv("SENONE_MODEL_PATH");
    fs::remove_all(root_);
  }

  void install(const fs::path &directory, const char *name) { fs::copy(tone_bundle(), directory / name); }

  const fs::path root_ = fs::path(testing::TempDir()) / ("senone_models_" + std::to_string(getpid()));
  const fs::path first_ = root_ / "first", second_ = root_ / "second";
};

TEST_F(Models, TheOnlyOneIsFoundWithoutAName) {
  install(first_, "tones");
  EXPECT_EQ(words(tone_recording("low mid high")), "low mid high");
  fs::create_directory("tones");  // no bundle, so it hides nothing
  EXPECT_EQ(words("--model tones " + tone_recording("low")), "low");
  fs::remove("tones");
}

TEST_F(Models, OneOfSeveralIsNamed) {
  install(first_, "tones");
  install(second_, "others");
  const Outcome outcome = run_program("senone", "recognize " + tone_recording("low"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.output, "senone: several bundles are installed: tones, others; choose one with --model\n");
  EXPECT_EQ(words("--model others " + tone_recording("low")), "low");
}

TEST_F(Models, WithoutOneTheDirectoriesAreNamed) {
  const Outcome outcome = run_program("senone", "recognize " + tone_recording("low"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("no bundle with a graph is installed in " + first_.string() + ", " + second_.string()),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.output.find("relative"), std::string::npos);
  EXPECT_NE(
      run_program("senone", "models").output.find("no bundle is in any of these directories:\n  " + first_.string() + "\n"),
      std::string::npos);
}

TEST_F(Models, AreListed) {
  install(first_, "tones");
  install(second_, "tones");  // hidden by the first
  fs::create_directory(second_ / "broken");
  std::ofstream(second_ / "broken" / "senone.json") << "{";
  const Outcome outcome = run_program("senone", "models");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("tones                language model  16000 Hz  " + (first_ / "tones").string() + "\n"),
            std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("broken               not used: "), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find((second_ / "tones").string()), std::string::npos) << outcome.output;
  const Outcome json = run_program("senone", "models --json");
  EXPECT_NE(json.output.find("\"sample_rate_hz\": 16000.0"), std::string::npos) << json.output;
}

TEST_F(Models, NamesAreJsonStringsAndNothingElse) {
  install(first_, "to\tnes");
  const Outcome json = run_program("senone", "models --json");
  EXPECT_NE(json.output.find("\"name\": \"to\\tnes\""), std::string::npos) << json.output;
}

TEST_F(Models, APathIsTakenAsItIs) {
  install(first_, "tones");
  const Outcome outcome = run_program("senone", "recognize --model ./tones " + tone_recording("low"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("senone: ./tones"), std::string::npos) << outcome.output;
}

// An installed model need not be writable, so that graphs of it are written elsewhere.
TEST_F(Models, AGraphOfAnInstalledModelWithItsOwnDictionary) {
  fs::copy(tone_model(), first_ / "commands");
  const fs::path list = root_ / "words", made = root_ / "made";
  std::ofstream(list) << "low\nhigh\n";
  const std::string graph = "graph --quiet --model commands --words " + list.string();
  const Outcome without = run_program("senone", graph + " --out " + made.string());
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.output.find("--lexicon is required, as there is no " + (first_ / "commands/lexicon.dict").string()),
            std::string::npos)
      << without.output;
  std::ofstream(first_ / "commands/lexicon.dict") << kToneLexicon;
  EXPECT_EQ(run_program("senone", graph + " --out " + made.string()).exit_code, 0);
  EXPECT_EQ(words("--keep-rejected --model " + made.string() + " " + tone_recording("high low")), "high low");
  EXPECT_FALSE(fs::exists(first_ / "commands/graph.bin"));
  const Outcome in_place = run_program("senone", graph);  // a name alone may be a typing error
  EXPECT_EQ(in_place.exit_code, 1);
  EXPECT_FALSE(fs::exists(first_ / "commands/graph.bin"));
}

TEST_F(Models, ABackgroundWithoutAGraph) {
  const fs::path made = root_ / "made";
  const std::string graph = "graph --out " + made.string() + " --background --model ";
  EXPECT_EQ(run_program("senone", graph + tone_model()).exit_code, 0);
  EXPECT_TRUE(fs::exists(made / "background.bin"));
  EXPECT_FALSE(fs::exists(made / "graph.bin"));
  EXPECT_EQ(run_program("senone", "info " + made.string()).exit_code, 0);
  const Outcome with_graph = run_program("senone", graph + tone_bundle());
  EXPECT_EQ(with_graph.exit_code, 2);
  EXPECT_NE(with_graph.output.find("--background is for models without a graph"), std::string::npos) << with_graph.output;
  EXPECT_EQ(run_program("senone", graph + tone_model() + " --words list").exit_code, 2);
  EXPECT_EQ(run_program("senone", graph + tone_model() + " --hclg graph --words list").exit_code, 2);
}

}  // namespace
}  // namespace asr::test
