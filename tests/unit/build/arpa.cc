// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/arpa.h"

#include <gtest/gtest.h>

#include <cmath>

#include "builder/graph/grammar.h"
#include "core/base/error.h"

namespace asr {
namespace {

const double kLn10 = std::log(10.0);

const char kModel[] =
    "a comment\n\\data\\\nngram 1=4\nngram 2=3\nngram 3=1\n\n\\1-grams:\n-1.0 </s>\n-99 <s> -0.5\n-0.5\ta\t-0.25\n-0.75 b\n\n"
    "\\2-grams:\n-0.2 <s> a -0.125\n-0.3 a b\n-0.4 a </s>\n\n\\3-grams:\n-0.1 <s> a b\n\n\\end\\\n";

std::string with(const std::string &what, const std::string &instead) {
  std::string text = kModel;
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

// Returns the message of the parser's error.
std::string message(const std::string &text) {
  try {
    parse_arpa(text, "lm.arpa");
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_BAD_FILE);
    return error.what();
  }
  return "no error";
}

TEST(Arpa, CostsAndBackoffs) {
  const NgramModel model = parse_arpa(kModel, "lm.arpa");
  ASSERT_EQ(model.order(), 3u);
  const uint32_t start = model.find_word("<s>"), a = model.find_word("a"), b = model.find_word("b"),
                 end = model.find_word("</s>");
  const NgramPlace after_start{0, start}, after_start_a{1, model.find_child(0, start, a)}, after_a{0, a};
  EXPECT_NEAR(word_cost(model, {}, b), 0.75 * kLn10, 1e-5);
  EXPECT_NEAR(word_cost(model, after_start, a), 0.2 * kLn10, 1e-5);
  EXPECT_NEAR(word_cost(model, after_start, b), (0.5 + 0.75) * kLn10, 1e-5);
  EXPECT_NEAR(word_cost(model, after_start_a, b), 0.1 * kLn10, 1e-5);
  EXPECT_NEAR(word_cost(model, after_start_a, end), (0.125 + 0.4) * kLn10, 1e-5);
  EXPECT_NEAR(word_cost(model, after_start_a, a), (0.125 + 0.25 + 0.5) * kLn10, 1e-5);
  EXPECT_NEAR(word_cost(model, after_a, end), 0.4 * kLn10, 1e-5);
}

TEST(Arpa, ProbabilitiesAboveOneAreRefused) {
  for (const char *const log10 : {"0.3", "+0.001", "2", "1e9"}) {
    const std::string said = message(with("-0.4 a </s>", std::string(log10) + " a </s>"));
    EXPECT_NE(said.find("lm.arpa: line 16: " + std::string(log10[0] == '+' ? log10 + 1 : log10) +
                        " is the logarithm of a probability above 1"),
              std::string::npos)
        << said;
  }
  for (const char *const rounded : {"0", "0.0", "1e-5", "-0.0"}) {
    EXPECT_EQ(message(with("-0.4 a </s>", std::string(rounded) + " a </s>")), "no error") << rounded;
  }
  EXPECT_EQ(message(with("-0.5\ta\t-0.25", "-0.5\ta\t0.25")), "no error");  // back-off weights may be above 1
}

TEST(Arpa, ModelsOfReversedSentencesNeverPredictTheEnd) {
  EXPECT_TRUE(predicts_end(parse_arpa(kModel, "lm.arpa")));
  EXPECT_TRUE(predicts_end(parse_arpa(with("-1.0 </s>", "-99 </s>"), "lm.arpa")));  // a bigram does
  const std::string reversed =
      "\\data\\\nngram 1=3\nngram 2=2\n\n\\1-grams:\n-1.0 <s>\n-99 </s> -0.5\n-0.5 a -0.25\n\n"
      "\\2-grams:\n-0.2 </s> a\n-0.3 a <s>\n\n\\end\\\n";
  EXPECT_FALSE(predicts_end(parse_arpa(reversed, "lm.arpa")));
}

TEST(Arpa, HistoriesNotListedAreAdded) {
  const NgramModel model = parse_arpa(with("-0.1 <s> a b", "-0.1 a a b"), "lm.arpa");
  const uint32_t a = model.find_word("a"), b = model.find_word("b");
  const uint32_t a_a = model.find_child(0, a, a);
  ASSERT_NE(a_a, kNoNgram);
  EXPECT_NEAR(word_cost(model, {0, a}, a), (0.25 + 0.5) * kLn10, 1e-5);
  EXPECT_NEAR(word_cost(model, {1, a_a}, b), 0.1 * kLn10, 1e-5);
}

TEST(Arpa, WindowsLinesAndRoundedLogarithms) {
  std::string text = with("-0.3 a b", "0.00001 a b");
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  const NgramModel model = parse_arpa(text, "lm.arpa");
  EXPECT_EQ(word_cost(model, {0, model.find_word("a")}, model.find_word("b")), 0);
}

TEST(Arpa, DamageIsReportedWithItsLine) {
  const auto expect = [](const std::string &text, const char *line, const char *cause) {
    const std::string said = message(text);
    EXPECT_EQ(said.find("lm.arpa: "), 0u) << said;
    EXPECT_NE(said.find(line), std::string::npos) << said;
    EXPECT_NE(said.find(cause), std::string::npos) << said;
  };
  expect("", "has no line", "\\data\\, so it is no language model in ARPA form");
  expect("nothing here\n", "has no line", "\\data\\, so it is no language model in ARPA form");
  expect(with("ngram 2=3", "ngram 2=4"), "line 18", "4 2-grams announced but 3 found");
  expect(with("ngram 2=3", "ngram 2=2"), "line 16", "more 2-grams than the 2 announced");
  expect(with("ngram 2=3\n", ""), "line 4", "in order");
  expect(with("ngram 1=4", "ngram 1=4000000000"), "line 3", "larger than the file");
  expect(with("-0.3 a b", "x0.3 a b"), "line 15", "'x0.3' is not a number");
  expect(with("-0.3 a b", "-3e10 a b"), "line 15", "'-3e10' is beyond a logarithm's limit");  // its cost may be infinite
  expect(with("-0.3 a b", "-1" + std::string(100, '0') + " a b"), "line 15", "is beyond a logarithm's limit");
  expect(with("-0.3 a b", "-0.3 a"), "line 15", "2 words expected");
  expect(with("-0.3 a b", "-0.3 a c"), "line 15", "'c' is not among the 1-grams");
  expect(with("-0.75 b", "-0.75 a"), "line 11", "listed twice");
  expect(with("-0.4 a </s>", "-0.4 a b"), "", "'a b' is listed twice");
  expect(with("\\3-grams:", "\\4-grams:"), "line 18", "\\3-grams: expected");
  expect(with("\\end\\", ""), "line 21", "ends before \\end\\");
}

TEST(Arpa, EveryTruncationIsAnError) {
  const std::string text = kModel;
  for (size_t size = 0; size + 2 < text.size(); ++size) EXPECT_NE(message(text.substr(0, size)), "no error") << size;
}

TEST(NgramGrammar, UnknownWordsAreListedOrDropped) {
  const NgramModel model = parse_arpa(kModel, "lm.arpa");
  Vocabulary vocabulary{[](const std::string &word) { return word != "b"; }, "some.dict", false};
  try {
    ngram_grammar(model, vocabulary, "lm.arpa");
    FAIL() << "accepted";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("1 of 2 words have no pronunciation in some.dict: b;"), std::string::npos)
        << error.what();
  }
  vocabulary.drop_unknown = true;
  const Grammar grammar = ngram_grammar(model, vocabulary, "lm.arpa");
  EXPECT_EQ(grammar.words, (std::vector<std::string>{"<eps>", "a"}));
  for (const auto &arcs : grammar.arcs) {
    for (const GrammarArc &arc : arcs) EXPECT_LE(arc.word, 1u);
  }
}

}  // namespace
}  // namespace asr
