// SPDX-License-Identifier: Apache-2.0
// Tests dictionaries, word lists and the folding of letter case.
#include "builder/graph/lexicon.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "builder/graph/grammar.h"
#include "builder/graph/guessed_words.h"
#include "builder/graph/letter_case.h"
#include "builder/graph/lexical_graph.h"
#include "core/base/error.h"
#include "core/base/limits.h"
#include "tests/unit/g2p/toy_dictionary.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

HmmSet phones(const std::vector<std::string> &names) {
  HmmSet set;
  for (const std::string &name : names) set.phones.push_back({name, false, 0});
  return set;
}

template <typename Function>
std::string message(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

TEST(Lexicon, VariantsCommentsAndHomophones) {
  size_t n_left_out = 0;
  const Lexicon lexicon = parse_sphinx_lexicon("## x\n;; y\nto  T UW\nto(2)\tT AH\r\ntwo T UW\n(paren P\n\n", "d.dict",
                                               phones({"AH", "P", "T", "UW"}), &n_left_out);
  EXPECT_EQ(n_left_out, 0u);
  ASSERT_EQ(lexicon.pronunciations_of.size(), 3u);
  EXPECT_EQ(lexicon.pronunciations_of.at("to").size(), 2u);
  EXPECT_EQ(lexicon.pronunciations.size(), 3u);
  EXPECT_EQ(lexicon.pronunciations[lexicon.pronunciations_of.at("two")[0]], (std::vector<uint32_t>{2, 3}));
  EXPECT_TRUE(lexicon.contains("(paren"));
  EXPECT_FALSE(lexicon.contains("to(2)"));
}

// HTK prints the output symbol of the pronunciation that was said, which may be nothing.
TEST(Lexicon, OutputsAreTheWordsOfResults) {
  size_t n_left_out = 0;
  const char *const text = "READ [reed] A B\nREAD [red] B B\nTWO [2] A\nTWO B A\nSIL [] B\nred B A B\nA A A\n";
  const Lexicon all = parse_sphinx_lexicon(text, "d.dict", phones({"A", "B"}), &n_left_out);
  EXPECT_TRUE(all.notes.empty());
  const Lexicon lexicon = merge(restricted(all, {"READ", "A"}), restricted(all, {"TWO", "SIL", "red"}), "d.dict");
  EXPECT_EQ(lexicon.outputs_of.size(), 3u);
  EXPECT_EQ(lexicon.outputs_of.at("SIL"), (std::vector<std::string>{""}));
  EXPECT_EQ(lexicon.outputs_of.at("TWO"), (std::vector<std::string>{"2", "TWO"}));  // in the order of the pronunciations

  Grammar grammar;
  grammar.words = {"<eps>", "READ", "TWO", "SIL", "red", "A", "READ"};
  grammar.labels.assign(7, {});
  grammar.labels[6].tags = "tagged";
  add_outputs(&grammar, lexicon);
  EXPECT_EQ(grammar.words,
            (std::vector<std::string>{"<eps>", "READ", "TWO", "SIL", "red", "A", "READ", "reed", "2", "reed", "red"}));
  ASSERT_EQ(grammar.outputs.size(), 7u);
  EXPECT_EQ(grammar.outputs[1], (std::vector<uint32_t>{7, 4}));  // "red" is a word already
  EXPECT_EQ(grammar.outputs[2], (std::vector<uint32_t>{8, 2}));
  EXPECT_EQ(grammar.outputs[3], (std::vector<uint32_t>{0}));
  EXPECT_TRUE(grammar.outputs[4].empty() && grammar.outputs[5].empty());
  EXPECT_EQ(grammar.outputs[6], (std::vector<uint32_t>{9, 10}));  // with its own tags
  EXPECT_EQ(grammar.labels.at(9).tags, "tagged");
}

TEST(Lexicon, CommentsAtTheEndsOfLines) {
  size_t n_left_out = 0;
  const HmmSet set = phones({"A", "B"});
  for (const std::string text : {"# my words\na A # first\nbat B A #second\n", "#\na A\nbat B A ## x\r\n"}) {
    const Lexicon lexicon = parse_sphinx_lexicon(text, "d.dict", set, &n_left_out);
    EXPECT_EQ(n_left_out, 0u) << text;
    EXPECT_EQ(lexicon.pronunciations_of.size(), 2u) << text;
    EXPECT_TRUE(lexicon.contains("a") && lexicon.contains("bat")) << text;
  }
  EXPECT_TRUE(parse_sphinx_lexicon("#hash-mark A B\n", "d.dict", set, &n_left_out).contains("#hash-mark"));
  EXPECT_NE(message([&] {
              parse_sphinx_lexicon("a A\nalone # A\n", "d.dict", set, &n_left_out);
            }).find("line 2: 'alone' has no phones"),
            std::string::npos);
}

// Every form of every line: the same words and phones, and the probabilities as costs.
TEST(Lexicon, ProbabilitiesInEveryForm) {
  const HmmSet set = phones({"A", "B", "1"});
  struct Form {
    const char *columns;
    double probability;
  };
  const std::vector<Form> forms = {{"", 1},
                                   {"0.25", 0.25},
                                   {"1.0", 1},
                                   {"5.0e-1", 0.5},
                                   {"0.99 0.17 1.0 1.02", 0.99},
                                   {"0.5 0.25 1.5 0.8", 0.5},
                                   {"[a] 0.25", 0.25},
                                   {"[a]", 1},
                                   {"[]", 1}};
  for (const Form &first : forms) {
    for (const Form &second : forms) {
      const auto line = [](const Form &form, const char *rest) { return std::string("a ") + form.columns + rest; };
      size_t n_left_out = 0;
      const Lexicon lexicon = parse_sphinx_lexicon(line(first, " A B\n") + line(second, "\tB # x\n"), "d", set, &n_left_out);
      EXPECT_EQ(n_left_out, 0u);
      EXPECT_EQ(lexicon.pronunciations, (std::vector<std::vector<uint32_t>>{{0, 1}, {1}}));
      std::vector<float> costs(2, 0);
      if (lexicon.costs_of.count("a") > 0) costs = lexicon.costs_of.at("a");
      costs.resize(2, 0);
      EXPECT_NEAR(costs[0], -std::log(first.probability), 1e-6) << first.columns;
      EXPECT_NEAR(costs[1], -std::log(second.probability), 1e-6) << second.columns;
    }
  }
}

TEST(Lexicon, NumbersThatArePhonesAreNoProbabilities) {
  size_t n_left_out = 0;
  const HmmSet set = phones({"A", "1", "0.5"});
  const Lexicon lexicon = parse_sphinx_lexicon("a 1 A\nb 0.5 A\n", "d", set, &n_left_out);
  EXPECT_EQ(lexicon.pronunciations.size(), 2u);
  EXPECT_EQ(lexicon.pronunciations[0].size(), 2u);
  EXPECT_TRUE(lexicon.costs_of.empty());
  const Lexicon all = parse_sphinx_lexicon("a 1 A\nb 1 A\n", "d", phones({"A"}), &n_left_out);  // whole numbers on each line
  EXPECT_EQ(all.pronunciations, (std::vector<std::vector<uint32_t>>{{0}}));
}

TEST(Lexicon, ProbabilitiesThatAreNone) {
  size_t n_left_out = 0;
  const HmmSet set = phones({"A"});
  const auto says = [&](const std::string &text, const std::string &part) {
    const std::string said = message([&] { parse_sphinx_lexicon(text, "d", set, &n_left_out); });
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  says("a 0.5 A\nb 0.0 A\n", "d: line 2: 'b' has the probability 0.0; it must be above 0");
  says("a 1.5 A\n", "line 1: 'a' has the probability 1.5");
  says("a -0.5 A\n", "'a' has the probability -0.5");
  says("a 0.5 0.5 A\n", "'a' has 2 numbers before its phones");
  says("a 0.5\n", "'a' has no phones");
}

// Of a pronunciation that is there twice the likelier one counts, in one dictionary and in merged ones.
TEST(Lexicon, CostsOfMergedAndRestrictedLexicons) {
  size_t n = 0;
  const HmmSet set = phones({"A", "B", "C"});
  const Lexicon first = parse_sphinx_lexicon("a 0.5 A\na 0.25 B\nb 0.5 A\n", "d", set, &n);
  const Lexicon second = parse_sphinx_lexicon("a 0.75 B\na 0.125 C\nc A\n", "d", set, &n);
  const auto cost = [](double p) { return static_cast<float>(-std::log(p)); };
  const Lexicon merged = merge(first, second, "both");
  EXPECT_EQ(merged.costs_of.at("a"), (std::vector<float>{cost(0.5), cost(0.75), cost(0.125)}));
  EXPECT_EQ(merged.costs_of.at("b"), (std::vector<float>{cost(0.5)}));
  EXPECT_EQ(merged.costs_of.count("c"), 0u);
  const Lexicon some = restricted(merged, {"a"});
  EXPECT_EQ(some.costs_of.at("a"), merged.costs_of.at("a"));
  EXPECT_EQ(some.costs_of.size(), 1u);
  EXPECT_EQ(LexiconStack().with(first, "x").with(second, "y").restricted({"a", "b"}).costs_of.at("a"), merged.costs_of.at("a"));
}

TEST(PackedLexicon, GivesWhatTheWholeIsRestrictedTo) {
  size_t n = 0;
  const HmmSet set = phones({"A", "B", "C"});
  const char *const texts[] = {"b 0.5 A\na 0.25 B\na 0.5 A\n\u00e9 0.125 C\na 0.5 B\n", "b B A\nab A B\na A\na(2) A C\nb A\n",
                               "b [x] A\na B\na [] A\na [y] B\n", "a A XX\nb A\nc YY\na ZZ\n"};
  for (const char *const text : texts) {
    const Lexicon whole = parse_sphinx_lexicon(text, "d", set, &n);
    const PackedLexicon packed(text, "d", set);
    const std::vector<std::vector<std::string>> lists = {{"a"}, {"b", "a", "b", "none"}, {"\u00e9", "ab"}, {"c"}, {}};
    for (const std::vector<std::string> &words : lists) {
      const Lexicon expected = restricted(whole, words), found = packed.restricted(words);
      EXPECT_EQ(found.pronunciations, expected.pronunciations) << text;
      EXPECT_EQ(found.pronunciations_of, expected.pronunciations_of);
      EXPECT_EQ(found.costs_of, expected.costs_of);
      EXPECT_EQ(found.outputs_of, expected.outputs_of);
      for (const std::string &word : words) {
        EXPECT_EQ(packed.contains(word), whole.contains(word));
        EXPECT_EQ(packed.left_out(word) != nullptr, whole.left_out.count(word) != 0) << word;
      }
    }
  }
  EXPECT_EQ(message([&] { PackedLexicon("a XX\n", "d", set); }),
            message([&] { parse_sphinx_lexicon("a XX\n", "d", set, &n); }));
}

TEST(Lexicon, TellsWhyAWordIsLeftOut) {
  size_t n_left_out = 0;
  const HmmSet set = phones({"A"});
  const Lexicon lexicon = parse_sphinx_lexicon("a A\nb A XX\nb YY\na ZZ\n", "d.dict", set, &n_left_out);
  EXPECT_EQ(n_left_out, 3u);
  EXPECT_EQ(lexicon.left_out.at("b").why(), "line 2 has the phone 'XX', which the model lacks");
  const LexiconStack stack = LexiconStack().with(lexicon, "d.dict").with(lexicon, "d.dict");
  ASSERT_NE(stack.left_out("b"), nullptr);
  EXPECT_EQ(stack.left_out("b")->line, 2u);
  EXPECT_EQ(stack.left_out("c"), nullptr);
  EXPECT_EQ(
      list_left_out(lexicon, n_left_out, "d.dict"),
      "3 pronunciations of d.dict were left out: 'b' (line 2 has the phone 'XX', which the model lacks), 'a' (line 4 has the "
      "phone 'ZZ', which the model lacks)");
  Vocabulary vocabulary{[&](const std::string &word) { return lexicon.contains(word); }, "d.dict", false};
  vocabulary.why_left_out = [&](const std::string &word) {
    const LeftOut *const left_out = stack.left_out(word);
    return left_out == nullptr ? "" : left_out->why();
  };
  EXPECT_NE(message([&] {
              word_list_grammar({"a", "b", "c"}, true, vocabulary, "words");
            })
                .find("2 of 3 words have no usable pronunciation in d.dict: b (line 2 has the phone 'XX', which the model "
                      "lacks), c;"),
            std::string::npos);
}

TEST(Lexicon, WordsWithForeignPhonesAreLeftOut) {
  size_t n_left_out = 0;
  const HmmSet set = phones({"A"});
  const Lexicon lexicon = parse_sphinx_lexicon("a A\nb B\n", "d.dict", set, &n_left_out);
  EXPECT_EQ(n_left_out, 1u);
  EXPECT_FALSE(lexicon.contains("b"));
  EXPECT_NE(message([&] { parse_sphinx_lexicon("# x y\nb B\n", "d.dict", set, &n_left_out); }).find("d.dict: line 2"),
            std::string::npos);
  EXPECT_NE(message([&] {
              parse_sphinx_lexicon("a A\nalone\n", "d.dict", set, &n_left_out);
            }).find("d.dict: line 2: 'alone' has no phones"),
            std::string::npos);
  EXPECT_NE(message([&] { parse_sphinx_lexicon("", "d.dict", set, &n_left_out); }).find("no words"), std::string::npos);
}

TEST(Lexicon, AddedWordsKeepItsOrder) {
  size_t n_left_out = 0;
  Lexicon lexicon = parse_sphinx_lexicon("b B\nbb B B\nbob B B\n", "d.dict", phones({"A", "B"}), &n_left_out);
  add_words(&lexicon, {{"a", {{0}, {1}}}, {"ab", {{0, 1}}}}, "m.g2p");
  EXPECT_EQ(lexicon.pronunciations, (std::vector<std::vector<uint32_t>>{{0}, {0, 1}, {1}, {1, 1}}));
  EXPECT_EQ(lexicon.pronunciations_of.at("a"), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(lexicon.pronunciations_of.at("ab"), (std::vector<uint32_t>{1}));
  EXPECT_EQ(lexicon.pronunciations_of.at("b"), (std::vector<uint32_t>{2}));
  EXPECT_EQ(lexicon.pronunciations_of.at("bob"), (std::vector<uint32_t>{3}));
}

TEST(LexiconStack, HasTheWordsOfAll) {
  const HmmSet set = phones({"A", "B"});
  const auto parse = [&](const std::string &text) {
    size_t n_left_out = 0;
    return parse_sphinx_lexicon(text, "d.dict", set, &n_left_out);
  };
  LexiconStack stack;
  Lexicon merged;
  std::vector<std::string> words;
  for (const char *text : {"a A\nb B\nab A B\nba B A\n", "c A A\n", "a B\n", "d B B\ne A B A\n", "c A A\nc B\n"}) {
    stack = stack.with(parse(text), "d.dict");
    merged = merge(merged, parse(text), "d.dict");
    words.clear();
    for (const auto &[word, pronunciations] : merged.pronunciations_of) words.push_back(word);
    const Lexicon all = stack.restricted(words);
    EXPECT_EQ(all.pronunciations, merged.pronunciations);
    EXPECT_EQ(all.pronunciations_of, merged.pronunciations_of);
  }
  EXPECT_TRUE(stack.contains("e"));
  EXPECT_FALSE(stack.contains("f"));
  EXPECT_EQ(stack.restricted({"d", "f"}).pronunciations, (std::vector<std::vector<uint32_t>>{{1, 1}}));
  std::string phones = " A";  // beyond the variants of "a"
  for (size_t n = 3; n <= kMaxPronunciations; ++n) stack = stack.with(parse("a" + (phones += " A") + "\n"), "d.dict");
  EXPECT_NE(message([&] { stack.with(parse("a B A B\n"), "d.dict"); }).find("'a' has more than 256 pronunciations"),
            std::string::npos);
}

TEST(GuessedWords, TakePhonesOfTheSetOnly) {
  const HmmSet set = phones({"AE", "B", "K", "T"});
  GuessedWords guessed(std::make_shared<G2pModel>(test::toy_model()), set, 3);
  EXPECT_TRUE(guessed.pronounces("bat"));
  EXPECT_FALSE(guessed.pronounces("xi"));   // has no known phone
  EXPECT_FALSE(guessed.pronounces("BAT"));  // letters missing in the model
  ASSERT_EQ(guessed.words().size(), 1u);
  EXPECT_EQ(guessed.words().at("bat")[0], (std::vector<uint32_t>{1, 0, 3}));
}

TEST(WordList, LoopAndSingle) {
  const Vocabulary any{[](const std::string &) { return true; }, "d.dict", false};
  const Grammar loop = word_list_grammar({"yes", "no", "maybe"}, false, any, "w");
  EXPECT_EQ(loop.n_states(), 1u);
  EXPECT_NEAR(loop.final_costs[0], std::log(4.0), 1e-6);
  EXPECT_NEAR(loop.arcs[0][2].cost, std::log(4.0), 1e-6);
  const Grammar single = word_list_grammar({"yes", "no"}, true, any, "w");
  EXPECT_EQ(single.final_costs[single.start], kNotFinal);
  EXPECT_NEAR(single.arcs[single.start][0].cost, std::log(2.0), 1e-6);
  const Vocabulary none{[](const std::string &) { return false; }, "d.dict", true};
  EXPECT_NE(message([&] { word_list_grammar({"yes"}, false, none, "w"); }).find("no word to recognise is left"),
            std::string::npos);
}

TEST(WordList, File) {
  const test::Scratch scratch;
  std::ofstream(scratch / "words") << "# list\nyes\n no \r\nyes\n\n";
  EXPECT_EQ(read_word_list(scratch / "words"), (std::vector<std::string>{"yes", "no"}));
  std::ofstream(scratch / "two") << "yes\nyes no\n";
  EXPECT_NE(message([&] { read_word_list(scratch / "two"); }).find("line 2: more than one word"), std::string::npos);
}

TEST(LetterCase, FoldsWordsButNotMarkers) {
  std::vector<std::string> words = {"<s>", "<UNK>", "Don't", "X2"};
  fold_case(&words, LetterCase::kLower, "lm");
  EXPECT_EQ(words, (std::vector<std::string>{"<s>", "<UNK>", "don't", "x2"}));
  words = {"\u00c9T\u00c9", "$\u00c9", "<\u00c9>"};
  fold_case(&words, LetterCase::kLower, "lm");
  EXPECT_EQ(words, (std::vector<std::string>{"\u00e9t\u00e9", "$\u00c9", "<\u00c9>"}));
  words = {"polish", "Polish"};
  fold_case(&words, LetterCase::kAsIs, "lm");
  EXPECT_NE(message([&] { fold_case(&words, LetterCase::kUpper, "lm"); }).find("'polish' and 'Polish' become one word"),
            std::string::npos);
}

}  // namespace
}  // namespace asr
