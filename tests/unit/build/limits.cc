// SPDX-License-Identifier: Apache-2.0
// Tests small grammars, language models and dictionaries that would need a deep stack, seconds or gigabytes. They must be
// refused at once, or processed differently.
#include "core/base/limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>

#include "builder/graph/arpa.h"
#include "builder/graph/compact.h"
#include "builder/graph/context_expansion.h"
#include "builder/graph/hmm_states.h"
#include "builder/graph/jsgf.h"
#include "builder/graph/lexical_graph.h"
#include "builder/graph/lexicon.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;

const Vocabulary kAnyWord{[](const std::string &) { return true; }, "any", false};

Grammar grammar_of(const std::string &rules) {
  return rules_grammar(parse_jsgf("#JSGF V1.0;\ngrammar g;\n" + rules, "g.jsgf", LetterCase::kAsIs), "", kAnyWord, "g.jsgf");
}

std::string chain(size_t n_rules) {
  std::string rules;
  for (size_t i = 0; i < n_rules; ++i) {
    rules += (i == 0 ? "public <r" : "<r") + std::to_string(i) + "> = a ";
    rules += i + 1 < n_rules ? "<r" + std::to_string(i + 1) + ">;\n" : ";\n";
  }
  return rules;
}

std::string repeated(const std::string &text, size_t n) {
  std::string all;
  for (size_t i = 0; i < n; ++i) all += text;
  return all;
}

TEST(BuildLimits, JsgfRulesInEachOther) {
  EXPECT_EQ(grammar_of(chain(500)).n_states(), 501u);
  expect_error([] { grammar_of(chain(20000)); }, ASR_UNSUPPORTED, "lie in each other more than 2000 deep");
  // A tag before them requires to know which can be empty.
  std::string references = "public <top> = {t} <r0>; <r100000> = a;";
  for (int i = 0; i < 100000; ++i) references += "<r" + std::to_string(i) + "> = <r" + std::to_string(i + 1) + ">;";
  expect_error([&] { grammar_of(references); }, ASR_UNSUPPORTED, "lie in each other more than 2000 deep");
}

// Reading time must be linear in the length, also if a program writes the grammar on one line.
TEST(BuildLimits, JsgfOnOneLine) {
  const auto seconds = [](const std::string &separator) {
    const std::string text = "#JSGF V1.0;\ngrammar g;\npublic <r> = " + repeated("\"a\"" + separator, 200000) + "a;";
    const std::clock_t begin = std::clock();  // time of this process, independent of other load
    parse_jsgf(text, "g.jsgf", LetterCase::kAsIs);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(" "), 4 * seconds("\n") + 0.2);
}

TEST(BuildLimits, JsgfMarksInARow) {
  EXPECT_GT(grammar_of("public <r> = a" + std::string(kMaxJsgfMarks, '*') + ";").n_states(), 0u);
  expect_error([] { grammar_of("public <r> = a" + std::string(40000, '*') + ";"); }, ASR_BAD_FILE, "more than 8 marks");
}

// n consecutive optional words have n * n / 2 arcs.
TEST(BuildLimits, JsgfOptionalPartsInARow) {
  EXPECT_EQ(grammar_of("public <r> = " + repeated("[a] ", 100) + "b;").n_states(), 102u);
  expect_error([] { grammar_of("public <r> = " + repeated("[a] ", 10000) + "b;"); }, ASR_UNSUPPORTED,
               "optional parts in a row");
}

// The n-th word from the end is an a. All arcs cost the same, so a deterministic automaton must remember n words.
TEST(BuildLimits, JsgfOfExponentiallyManyStates) {
  const auto from_the_end = [](size_t n) {
    return grammar_of("<x> = a | b; <y> = /1/ a | /1/ b | /2/ z; public <r> = <x>* (a | z) " + repeated("<y> ", n) + ";");
  };
  EXPECT_GT(from_the_end(8).n_states(), 256u);
  expect_error([&] { from_the_end(40); }, ASR_UNSUPPORTED, "once its words are told apart");
}

// 10^4 loops with the same words occur together in all of many thousand sets of states.
TEST(BuildLimits, JsgfOfLargeSetsOfStates) {
  std::string rules = "<x> = /1/ a | /1/ b | /2/ <VOID>; <m0> = (a | b)+; <n0> = (a | b)+ (/1/ a | /1/ <VOID>) ";
  rules += repeated("<x> ", 19) + ";";
  for (int i = 1; i <= 4; ++i) {
    const std::string before = std::to_string(i - 1), alike = repeated("<m" + before + "> | ", 9);
    rules += "<m" + std::to_string(i) + "> = " + alike + "<m" + before + ">; <n" + std::to_string(i) + "> = " + alike + "<n" +
             before + ">;";
  }
  expect_error([&] { grammar_of(rules + "public <r> = <n4>;"); }, ASR_UNSUPPORTED, "can be reached by the same words");
}

// A tag that occurs once may belong to every word, and so may a rule's name.
TEST(BuildLimits, JsgfOfLongTagsAndNames) {
  const std::string tag = "{" + std::string(1000000, 't') + "}", name(1000000, 'r');
  std::string words = "w0";
  for (int i = 1; i < 100; ++i) words += " | w" + std::to_string(i);
  EXPECT_GT(grammar_of("public <r> = (a | b) " + tag + ";").n_states(), 0u);
  expect_error([&] { grammar_of("public <r> = (" + words + ") " + tag + ";"); }, ASR_UNSUPPORTED, "come to more than 64 MiB");
  expect_error([&] { grammar_of("public <" + name + "> = " + words + ";"); }, ASR_UNSUPPORTED, "come to more than 64 MiB");
  std::string rules = "<w> = a | (/0/ " + words + " | /1/ b);";  // words that are never spoken
  for (size_t at = rules.find(" | w"); at != std::string::npos; at = rules.find(" | w", at + 1)) rules.insert(at + 3, "/0/ ");
  for (int i = 0; i < 10000; ++i) rules += "public <p" + std::to_string(i) + "> = <w>;";
  expect_error([&] { grammar_of(rules); }, ASR_UNSUPPORTED, "come to more than 64 MiB");
}

std::string ngrams(size_t order) {
  std::string text = "\\data\\\n";
  for (size_t n = 1; n <= order; ++n) text += "ngram " + std::to_string(n) + "=" + (n == 1 ? "2" : "1") + "\n";
  for (size_t n = 1; n <= order; ++n) {
    text += "\\" + std::to_string(n) + "-grams:\n-1" + repeated(" a", n) + "\n" + (n == 1 ? "-1 </s>\n" : "");
  }
  return text + "\\end\\\n";
}

// Few rules, or few uses of a long word, can come to gigabytes when words are spelled. A long list of words may be as long.
TEST(BuildLimits, SpelledGrammars) {
  Lexicon lexicon;
  for (uint32_t p = 0; p < 256; ++p) {  // of "long": 100 phones, which differ at both ends, so that trees share little
    std::vector<uint32_t> phones(100, 1);
    for (uint32_t bit = 0; bit < 8; ++bit) phones[bit] = phones[99 - bit] = 1 + (p >> bit & 1);
    lexicon.pronunciations.push_back(phones);
    lexicon.pronunciations_of["long"].push_back(p);
  }
  lexicon.pronunciations.push_back({1, 2, 1, 2});
  lexicon.pronunciations_of["short"] = {256};
  const auto spell = [&](const std::string &rules) {
    return make_lexical_graph(grammar_of(rules), lexicon, 0, [](double, const std::string &) {});
  };
  EXPECT_LT(spell("public <r> = " + repeated("long ", 3) + ";").arcs.size(), size_t{kBaseSpelledArcs});
  const std::string uses = "public <r> = " + repeated("long ", 300) + ";";
  expect_error([&] { spell(uses); }, ASR_UNSUPPORTED, "comes to more than 1048576 arcs when its words are spelled");
  std::string doubled = "<r0> = short | long short;";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "<r" + std::to_string(i - 1) + ">";
    doubled += "<r" + std::to_string(i) + "> = " + before + " " + before + ";";
  }
  expect_error([&] { spell(doubled + "public <r> = <r9>;"); }, ASR_UNSUPPORTED, "when its words are spelled");
}

// Short words in a row have every neighbour on both sides, which can come to gigabytes.
TEST(BuildLimits, ExpandedGrammars) {
  HmmSet set;
  set.topologies = {{1, {{0, 0, 1.0f}, {0, 1, 1.0f}, {kEntry, 0, 0}}}};
  set.hmms = {{0, {0}}};
  set.phones = {{"P", false, 0}};
  set.n_pdfs = 1;
  Lexicon lexicon;
  lexicon.pronunciations = {{0}};
  lexicon.pronunciations_of["a"] = {0};
  const auto quiet = [](double, const std::string &) {};
  LexicalGraph lexical = make_lexical_graph(grammar_of("public <r> = a a a a a a a a;"), lexicon, 0, quiet);
  EXPECT_EQ(lexical.max_expanded_arcs, kBaseExpandedArcs);
  const ContextTable contexts(set);
  const uint64_t n_arcs = expand_contexts(lexical, set, contexts, {}, {}, quiet).graph.arcs.size();
  lexical.max_expanded_arcs = n_arcs;
  EXPECT_EQ(expand_contexts(lexical, set, contexts, {}, {}, quiet).graph.arcs.size(), n_arcs);
  lexical.max_expanded_arcs = n_arcs - 1;
  expect_error([&] { expand_contexts(lexical, set, contexts, {}, {}, quiet); }, ASR_UNSUPPORTED, "neighbours of its phones");
}

TEST(BuildLimits, NgramsAreShort) {
  EXPECT_EQ(parse_arpa(ngrams(kMaxNgramOrder), "lm").order(), kMaxNgramOrder);
  expect_error([] { parse_arpa(ngrams(16), "lm"); }, ASR_BAD_FILE, "n-grams of more than 8 words");
  expect_error([] { parse_arpa("\\data\\\nngram 1=30\n\n\\1-grams:\n-1 </s>\n", "lm"); }, ASR_BAD_FILE, "larger than the file");
  expect_error([] { NgramBuilder({"a"}, kMaxNgramOrder + 1, "lm"); }, ASR_UNSUPPORTED, "n-grams of 9 words");
}

// Backing off removes first words until the rest is listed.
TEST(BuildLimits, BackOffFindsTheLongestListedEnd) {
  const NgramModel model = parse_arpa(
      "\\data\\\nngram 1=4\nngram 2=2\nngram 3=2\n\\1-grams:\n-1 a\n-1 b\n-1 c\n-1 </s>\n"
      "\\2-grams:\n-1 a b\n-1 b c\n\\3-grams:\n-1 a b c\n-1 a b a\n\\end\\\n",
      "lm");
  const uint32_t a = model.find_word("a"), b = model.find_word("b"), c = model.find_word("c");
  const uint32_t ab = model.find_child(0, a, b);
  const NgramPlace abc = back_off(model, {2, model.find_child(1, ab, c)});
  EXPECT_EQ(abc.level, 1);
  EXPECT_EQ(abc.index, model.find_child(0, b, c));
  const NgramPlace aba = back_off(model, {2, model.find_child(1, ab, a)});
  EXPECT_EQ(aba.level, 0);
  EXPECT_EQ(aba.index, a);
  EXPECT_EQ(back_off(model, {1, ab}).index, b);
  EXPECT_EQ(back_off(model, {0, a}).level, -1);
}

TEST(BuildLimits, DictionaryWords) {
  HmmSet set;
  set.phones = {{"P", false, 0}};
  size_t n_left_out = 0;
  const auto read = [&](const std::string &text) { parse_sphinx_lexicon(text, "d.dict", set, &n_left_out); };
  read("long" + repeated(" P", kMaxWordPhones) + "\n");
  expect_error([&] { read("long" + repeated(" P", 100000) + "\n"); }, ASR_BAD_FILE, "line 1: 'long' has 100000 phones");
  std::string variants;
  for (size_t n = 1; n <= kMaxPronunciations + 1; ++n) variants += "x" + repeated(" P", n) + "\n";
  expect_error([&] { read(variants); }, ASR_BAD_FILE, "'x' has more than 256 pronunciations");
}

// Each state is entered from one or two preceding states: the number of paths is the 60th Fibonacci number.
TEST(BuildLimits, HmmsWithVeryManyPaths) {
  constexpr uint32_t kStates = 60;
  HmmSet set;
  set.n_pdfs = kStates;
  set.topologies.resize(1);
  set.topologies[0].n_states = kStates;
  set.hmms.resize(1);
  for (uint32_t state = 0; state < kStates; ++state) {
    for (uint32_t to = state; to <= std::min(state + 2, kStates); ++to) set.topologies[0].arcs.push_back({state, to, 1.1f});
    set.hmms[0].pdfs.push_back(state);
  }
  set.topologies[0].arcs.push_back({kEntry, 0, 0});
  set.phones = {{"P", false, 0}};
  set.validate("hmms.bin");
  StateGraph graph;
  const uint32_t exit = graph.add_state();
  HmmStates states(set, {}, &graph);
  EXPECT_EQ(states.enter(0, kAnyPosition, {{0, exit, 0}}).size(), 1u);
  EXPECT_EQ(graph.n_states(), kStates + 1);
}

// Two equal chains: each round separates their states one position further from the end.
TEST(BuildLimits, MinimisingEndsInTime) {
  constexpr uint32_t kLength = 2000;
  StateGraph graph;
  graph.start = graph.add_state();
  std::vector<StateArc> first;
  for (uint32_t which = 0; which < 2; ++which) {
    first.push_back({1 + which, 0, 0, graph.n_states()});
    for (uint32_t i = 0; i < kLength; ++i) {
      const uint32_t state = graph.add_state();
      if (i + 1 < kLength) graph.set_arcs(state, {{1, 0, 0.5f, state + 1}});
    }
    graph.final_costs.back() = 0;
  }
  graph.set_arcs(0, first);
  size_t n_rounds = 0;
  const BuildProgress count = [&](double, const std::string &) { ++n_rounds; };
  StateGraph minimised = graph;
  EXPECT_EQ(minimise(&minimised, count).size(), kLength + 1);
  EXPECT_GT(n_rounds, kBaseMinimisingRounds);
  n_rounds = 0;
  EXPECT_EQ(minimise(&graph, count, 0).size(), graph.n_states());
  EXPECT_EQ(n_rounds, kBaseMinimisingRounds);
}

}  // namespace
}  // namespace asr
