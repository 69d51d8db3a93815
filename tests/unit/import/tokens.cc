// SPDX-License-Identifier: Apache-2.0
// Tests the import of tokens: the forms of their lists, the blank, classes and priors, and what is refused.
#include "builder/import/tokens.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/parse_json.h"

namespace asr {
namespace {

class TokenImport : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::vector<std::string> read(const std::string &name, const std::string &text) const {
    return read_token_list(write(name, text)).tokens;
  }
  TokensOptions options(const std::string &tokens) const {
    TokensOptions options;
    options.tokens = write("tokens.txt", tokens);
    options.frame_shift_ms = 20;
    return options;
  }
  static std::string message(const TokensOptions &options) {
    try {
      import_tokens(options);
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      (std::string("senone_") + testing::UnitTest::GetInstance()->current_test_info()->name() + std::to_string(getpid()));
};

void expect_part(const std::string &text, const std::string &part) { EXPECT_NE(text.find(part), std::string::npos) << text; }

TEST_F(TokenImport, ListsOfAllForms) {
  const std::vector<std::string> expected = {"<blk>", "A", "\xe2\x96\x81the"};
  EXPECT_EQ(read("t.txt", "<blk>\nA\n\xe2\x96\x81the\n"), expected);
  EXPECT_EQ(read("t.txt", "\xe2\x96\x81the 2\n<blk> 0\nA 1\n"), expected);
  EXPECT_EQ(read("v.json", "{\"A\": 1, \"\xe2\x96\x81the\": 2, \"<blk>\": 0}"), expected);
  EXPECT_EQ(read("v.json", "[\"<blk>\", \"A\", \"\xe2\x96\x81the\"]"), expected);
  EXPECT_EQ(read("t.json", "{\"model\": {\"vocab\": {\"<blk>\": 0, \"A\": 1, \"\xe2\x96\x81the\": 2}}}"), expected);
  const TokenList pieces = read_token_list(write("m.vocab", "<blk>\t0\nA\t-1.5\n\xe2\x96\x81the\t-0.25\n"));
  EXPECT_EQ(pieces.tokens, expected);
  EXPECT_EQ(pieces.scores, (std::vector<float>{0, -1.5f, -0.25f}));
  EXPECT_EQ(read("t.txt", "<blk>\n \na\n"), (std::vector<std::string>{"<blk>", "<space>", "a"}));
}

// A graph of OpenFst has the labels token + 1.
TEST_F(TokenImport, TokensAreStates) {
  const ImportedModel model = import_tokens(options("<blk>\na\nb\n"));
  ASSERT_TRUE(model.bundle.scores.has_value());
  EXPECT_EQ(model.bundle.scores->n_states, 3u);
  EXPECT_EQ(model.bundle.scores->n_columns(), 3u);
  EXPECT_EQ(model.bundle.scores->blank, 0u);
  EXPECT_EQ(model.bundle.scores->topology, TokenTopology::kCtc);
  ASSERT_EQ(model.hmms.transitions.size(), 4u);
  for (uint32_t token = 0; token < 3; ++token) EXPECT_EQ(model.hmms.transitions[token + 1].pdf, token);
  model.hmms.validate("tokens");
  model.bundle.front_end.validate("tokens");
}

TEST_F(TokenImport, FramesLastWhatTheyDo) {
  for (const double shift_ms : {0.1, 10.0, 12.5, 20.0, 23.219954648526077, 40.0, 80.0, 500.0}) {
    const FrontEnd front_end = front_end_of_rows(shift_ms);
    front_end.validate("rows");
    EXPECT_NEAR(1000 * front_end.shift_samples / front_end.sample_rate_hz, shift_ms, 1e-9);
  }
}

TEST_F(TokenImport, TheBlankByNameNumberAndBehindTheOthers) {
  TokensOptions given = options("a\nb\n_\n");
  expect_part(message(given), "name it with --blank, or give 3");
  given.blank = "_";
  EXPECT_EQ(import_tokens(given).bundle.scores->blank, 2u);
  given.blank = "1";
  EXPECT_EQ(import_tokens(given).bundle.scores->blank, 1u);
  given.blank = "3";
  EXPECT_EQ(import_tokens(given).bundle.scores->blank, 3u);
  EXPECT_EQ(import_tokens(given).bundle.scores->n_states, 4u);
  given.blank = "4";
  expect_part(message(given), "--blank 4: there is no such token");
}

TEST_F(TokenImport, ClassesAreSumsOfTokens) {
  TokensOptions given = options("a\nb\nc\nd\n<blank>\n");
  given.classes = write("classes", "X c a\nY b\n");
  const ImportedModel model = import_tokens(given);
  EXPECT_EQ(model.bundle.scores->state_of_column, (std::vector<uint32_t>{1, 2, 1, kNoToken, 0}));
  EXPECT_EQ(model.bundle.scores->n_states, 3u);
  EXPECT_EQ(model.bundle.scores->blank, 0u);
  EXPECT_EQ(model.hmms.phones[1].name, "X");
  ASSERT_EQ(model.notes.size(), 1u);
  expect_part(model.notes[0], "1 of 5 tokens are in no class");
  given.classes = write("classes", "X c a\nY c\n");
  expect_part(message(given), "line 2: the token 'c' is in a class already");
  given.classes = write("classes", "X e\n");
  expect_part(message(given), "line 1: there is no token 'e'");
  given.classes = write("classes", "X\n");
  expect_part(message(given), "line 1: the class X has no tokens");
}

TEST_F(TokenImport, PriorsAreCountsProbabilitiesOrLogarithms) {
  for (const char *text : {"6 3 1", "0.6\n0.3\n0.1\n", "[-0.5108256 -1.2039728 -2.3025851]"}) {
    TokensOptions given = options("<blank>\na\nb\n");
    given.priors = write("priors", text);
    given.prior_scale = 0.5;
    const ImportedModel model = import_tokens(given);
    ASSERT_EQ(model.bundle.scores->log_priors.size(), 3u);
    EXPECT_NEAR(model.bundle.scores->log_priors[1], std::log(0.3), 1e-5) << text;
  }
  TokensOptions given = options("<blank>\na\nb\n");
  given.priors = write("priors", "1 2");
  expect_part(message(given), "has 2 numbers; there are 3 tokens");
  given.priors = write("priors", "1 2 x");
  expect_part(message(given), "'x' is not a number");
  given.priors = write("priors", "1 2 0");
  expect_part(message(given), "0 is no probability");
}

TEST_F(TokenImport, DamagedListsAreRefused) {
  expect_part(message(options("")), "has no tokens");
  expect_part(message(options("<blank>\na\na\n")), "tokens 1 and 2 are both 'a'");
  expect_part(message(options("<blank>\na b\n")), "token 1 is empty or has blanks");
  for (const char *json : {"{", "{\"a\": 1}", "{\"a\": \"b\"}", "[1]", "[[\"a\", 1], \"b\"]", "3", "{\"a\": 0, \"b\": 0}"}) {
    TokensOptions given = options("");
    given.tokens = write("v.json", json);
    expect_part(message(given), "is no list of tokens");
  }
}

TEST_F(TokenImport, ScoreModelsAreCheckedWhenRead) {
  const auto read = [](const std::string &text) {
    const JsonText json(text, "x");
    return score_model_from_json(json.root(), "x");
  };
  EXPECT_EQ(read(R"({"states": 2, "topology": "ctc", "blank": 1, "columns": [0, -1, 1]})").n_columns(), 3u);
  for (const char *bad : {R"([])", R"({"topology": "ctc", "blank": 0})", R"({"states": 0, "topology": "hmm"})",
                          R"({"states": 2, "topology": "ctc"})", R"({"states": 2, "topology": "ctc", "blank": 2})",
                          R"({"states": 2, "topology": "hmm", "blank": 0})", R"({"states": 2, "topology": "x", "blank": 0})",
                          R"({"states": 2, "topology": "ctc", "blank": 0, "columns": [2]})",
                          R"({"states": 2, "topology": "ctc", "blank": 0, "columns": ["a"]})",
                          R"({"states": 2, "topology": "ctc", "blank": 0, "delimiter": 0})",
                          R"({"states": 2, "topology": "ctc", "blank": 0, "log_priors": [-1]})",
                          R"({"states": 2, "topology": "ctc", "blank": 0, "log_priors": [-1, 1]})",
                          R"({"states": 2, "topology": "ctc", "blank": 0, "prior_scale": 1})",
                          R"({"states": 2, "topology": "ctc", "blank": 0, "blank_penalty": 1e7})",
                          R"({"states": 2, "topology": "hmm", "blank_penalty": 1})"}) {
    EXPECT_THROW(read(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace asr
