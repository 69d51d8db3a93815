// SPDX-License-Identifier: Apache-2.0
// Tests the way from the tokens of a network to words: `senone import tokens`, `graph` and `recognize --loglikes`.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

class TokensCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    write("tokens.txt", "<blank>\nh\ne\nl\no\n|\n");
    write("words", "hello\nhelo\nhe\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string &name) const { return folder_ + "/" + name; }
  void write(const std::string &name, const std::string &text) const { std::ofstream(file(name)) << text; }

  // Rows that are clear about the token of each frame: '_' is the blank.
  void write_scores(const std::string &frames) const {
    std::ofstream archive(file("scores.ark"));
    archive << "said  [";
    for (const char frame : frames) {
      archive << "\n ";
      for (const char token : std::string("_helo|")) archive << (token == frame ? " -0.01" : " -8");
    }
    archive << " ]\n";
  }

  static Outcome run(const std::string &arguments, int exit_code = 0) {
    Outcome outcome = run_program("senone", arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << arguments << "\n" << outcome.output;
    return outcome;
  }
  void make(const std::string &import_options, const std::string &graph_options) const {
    run("import tokens --quiet " + file("tokens.txt") + " " + file("b") + " --frame-shift-ms 20 " + import_options);
    run("graph --quiet --model " + file("b") + " " + graph_options);
  }
  Outcome recognize(const std::string &options, int exit_code = 0) const {
    return run("recognize --quiet --device cpu --model " + file("b") + " --loglikes ark:" + file("scores.ark") + " " + options,
               exit_code);
  }
  std::string words(const std::string &frames, const std::string &options = "") const {
    write_scores(frames);
    const std::string text = recognize("--ctm " + options).output;
    std::istringstream lines(text);
    std::string words;
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind("said ", 0) == 0) words += (words.empty() ? "" : " ") + line.substr(line.rfind(' ') + 1);
    }
    return words;
  }

 private:
  const std::string folder_ = tone_bundle() + "/tokens_command";
};

TEST_F(TokensCommand, CharactersSpellWords) {
  make("--delimiter '|'", "--words " + file("words"));
  EXPECT_EQ(words("__hh_e_l_l_oo_|_he_"), "hello he");
  EXPECT_EQ(words("__hh_e_lll_oo_|_he_"), "helo he");
  EXPECT_EQ(words("hel_lo", "--blank-skip 0.9"), "hello");
  write_scores("_____he__|__hel_lo");
  const std::string ctm = recognize("--ctm").output;
  EXPECT_NE(ctm.find("said 1 0.10 0.04 he\n"), std::string::npos) << ctm;
  EXPECT_NE(ctm.find("said 1 0.24 0.12 hello\n"), std::string::npos) << ctm;
}

TEST_F(TokensCommand, TheCompactTopologyNeedsNoBlankBetweenEqualTokens) {
  make("--topology ctc-compact", "--words " + file("words"));
  EXPECT_EQ(words("hel_lo"), "hello");
  const std::string either = words("helllo");
  EXPECT_TRUE(either == "hello" || either == "helo") << either;
}

TEST_F(TokensCommand, ADictionarySpellsInClasses) {
  write("classes", "EL e l\nH h\n");
  write("dict", "hell H EL\n");
  write("words", "hell\n");
  make("--classes " + file("classes"), "--words " + file("words") + " --lexicon " + file("dict"));
  EXPECT_EQ(words("hheelle"), "hell");  // e and l are one token
}

TEST_F(TokensCommand, OneMessageEach) {
  make("", "--words " + file("words"));
  const std::string bundle = "--quiet --device cpu --model " + file("b") + " ";
  const auto expect = [](const Outcome &outcome, const std::string &part) {
    EXPECT_NE(outcome.output.find(part), std::string::npos) << outcome.output;
  };
  expect(run("recognize " + bundle + tone_recording("low"), 1), "has no Gaussians");
  expect(run("score " + bundle + "--out ark:" + file("x.ark") + " " + tone_recording("low"), 1), "has no Gaussians");
  expect(run("features " + bundle + "--out ark:" + file("x.ark") + " " + tone_recording("low"), 1), "has no Gaussians");
  std::ofstream(file("scores.ark")) << "said  [\n 0 -1 ]\n";
  expect(recognize("", 1), "2");
  std::ofstream(file("scores.ark")) << "said  [\n 0 -1 -1 nan -1 -1 ]\n";
  expect(recognize("", 1), "not a number");
  std::ofstream(file("scores.ark")) << "said  [\n 0 -inf -1 -inf -1 -1 ]\n";
  recognize("");
  expect(recognize("--prior-scale 1", 1), "has no priors");
  expect(run("graph --quiet --model " + tone_bundle() + " --words " + file("words"), 1), "hmms.bin");
  expect(run("import tokens --quiet " + file("tokens.txt") + " " + file("c"), 2), "--frame-shift-ms");
}

}  // namespace
}  // namespace asr::test
