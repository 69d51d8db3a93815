// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/jsgf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>

#include "core/base/error.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

const Vocabulary kAnyWord{[](const std::string &) { return true; }, "any", false};

Grammar grammar_of(const std::string &rules, const std::string &rule = "") {
  return rules_grammar(parse_jsgf("#JSGF V1.0;\ngrammar g;\n" + rules, "g.jsgf", LetterCase::kAsIs), rule, kAnyWord, "g.jsgf");
}

// Returns -ln of the probability of the likeliest path of a sentence; infinite if it is not accepted.
double cost_of(const Grammar &grammar, const std::string &sentence) {
  std::map<uint32_t, double> reached = {{grammar.start, 0.0}};
  std::istringstream words(sentence);
  for (std::string word; words >> word;) {
    std::map<uint32_t, double> next;
    for (const auto &[state, cost] : reached) {
      for (const GrammarArc &arc : grammar.arcs[state]) {
        if (grammar.words[arc.word] != word) continue;
        const auto [place, added] = next.emplace(arc.next, cost + arc.cost);
        if (!added) place->second = std::min(place->second, cost + arc.cost);
      }
    }
    reached = next;
  }
  double best = INFINITY;
  for (const auto &[state, cost] : reached) best = std::min<double>(best, cost + grammar.final_costs[state]);
  return best;
}

// Expects exactly these sentences, with these probabilities.
void expect_sentences(const Grammar &grammar, const std::map<std::string, double> &sentences) {
  size_t n_found = 0;
  const std::function<void(uint32_t, const std::string &)> walk = [&](uint32_t state, const std::string &said) {
    if (grammar.final_costs[state] != kNotFinal) {
      EXPECT_EQ(sentences.count(said), 1u) << "accepted: '" << said << "'";
      ++n_found;
    }
    for (const GrammarArc &arc : grammar.arcs[state])
      walk(arc.next, said.empty() ? grammar.words[arc.word] : said + " " + grammar.words[arc.word]);
  };
  walk(grammar.start, "");
  EXPECT_GE(n_found, sentences.size());
  for (const auto &[sentence, probability] : sentences) {
    EXPECT_NEAR(std::exp(-cost_of(grammar, sentence)), probability, 1e-5) << sentence;
  }
}

std::string message(const std::string &rules, const std::string &rule = "") {
  try {
    grammar_of(rules, rule);
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()).find("g.jsgf: "), 0u) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(Jsgf, AlternativesShareByWeight) {
  expect_sentences(grammar_of("public <r> = a | b c | d;"), {{"a", 1. / 3}, {"b c", 1. / 3}, {"d", 1. / 3}});
  expect_sentences(grammar_of("public <r> = /3/ a | /1/ b | /0/ c;"), {{"a", 0.75}, {"b", 0.25}});
}

TEST(Jsgf, OptionalPartsGroupsTagsAndComments) {
  expect_sentences(grammar_of("/* x */ public <r> = [very] ( good {tag} | bad ) day {x; y}; // end"),
                   {{"very good day", .25}, {"good day", .25}, {"very bad day", .25}, {"bad day", .25}});
  expect_sentences(grammar_of("public <r> = \"a;b\" <NULL> | c <VOID>;"), {{"a;b", 0.5}});
}

TEST(Jsgf, RulesWithinRules) {
  const Grammar grammar = grammar_of("<n> = one | two; public <r> = <n> <n>; public <s> = stop; <unused> = never;");
  expect_sentences(grammar, {{"one one", .125}, {"one two", .125}, {"two one", .125}, {"two two", .125}, {"stop", .5}});
  expect_sentences(grammar_of("<n> = one | two; public <r> = <n> <n>;", "n"), {{"one", .5}, {"two", .5}});
  expect_sentences(grammar_of("<n> = one | two; public <r> = <n> <n>;", "<n>"), {{"one", .5}, {"two", .5}});
}

TEST(Jsgf, Repetitions) {
  const Grammar star = grammar_of("public <r> = go (left | right)* stop;");
  EXPECT_NEAR(std::exp(-cost_of(star, "go stop")), 0.5, 1e-5);
  EXPECT_NEAR(std::exp(-cost_of(star, "go left right stop")), 0.5 * (0.5 * 0.5) * (0.5 * 0.5), 1e-5);
  EXPECT_EQ(cost_of(star, "go"), INFINITY);
  EXPECT_EQ(cost_of(star, "go stop stop"), INFINITY);
  const Grammar plus = grammar_of("public <r> = a+;");
  EXPECT_EQ(cost_of(plus, ""), INFINITY);
  EXPECT_NEAR(std::exp(-cost_of(plus, "a a a")), 0.125, 1e-5);
  EXPECT_NEAR(std::exp(-cost_of(grammar_of("public <r> = (a*)* b;"), "b")), 0.5, 1e-5);
}

TEST(Jsgf, RecursionAtTheEnd) {
  const Grammar grammar = grammar_of("public <r> = <d> | <d> <r>; <d> = a | b;");
  EXPECT_NEAR(std::exp(-cost_of(grammar, "a")), 0.25, 1e-5);
  EXPECT_NEAR(std::exp(-cost_of(grammar, "a b b")), 0.25 * 0.25 * 0.25, 1e-5);
  const Grammar mutual = grammar_of("public <r> = a <s>; <s> = b <r> | end;");
  EXPECT_NEAR(std::exp(-cost_of(mutual, "a b a end")), 0.25, 1e-5);
  EXPECT_NE(message("public <r> = x | <r> y;").find("contains itself before its end"), std::string::npos);
  EXPECT_NE(message("public <r> = ( <r> )* y;").find("contains itself before its end"), std::string::npos);
}

// Alternatives with probability 0 are dropped; costs are finite.
TEST(Jsgf, WeightsOfAnySize) {
  const Grammar grammar = grammar_of("public <r> = / 3e38 / a | /3e38/ b | /1e-300/ c;");
  EXPECT_NEAR(std::exp(-cost_of(grammar, "a")), 0.5, 1e-5);
  for (const std::vector<GrammarArc> &arcs : grammar.arcs) {
    for (const GrammarArc &arc : arcs) EXPECT_TRUE(std::isfinite(arc.cost));
  }
}

TEST(Jsgf, CommentsEndBehindTheirBeginning) {
  EXPECT_NEAR(std::exp(-cost_of(grammar_of("public <r> = a /*/ b */ c /**/;"), "a c")), 1, 1e-5);
}

TEST(Jsgf, ErrorsNameTheLine) {
  const auto expect = [](const std::string &rules, const char *line, const char *cause) {
    const std::string said = message(rules);
    EXPECT_NE(said.find(line), std::string::npos) << said;
    EXPECT_NE(said.find(cause), std::string::npos) << said;
  };
  expect("public <r> = a\n", "line 4", "';' expected");
  expect("public <r> = (a;", "line 3", "')' expected");
  expect("public <r> = a | ;", "line 3", "expected");
  expect("public <r = a;\n", "line 3", "does not end");
  expect("public <r> = /x/ a | /1/ b;", "line 3", "not a weight");
  expect("public <r> = /0,5/ a | /1/ b;", "line 3", "/0,5/ is not a weight");
  expect("public <r> = /1e39/ a | /1/ b;", "line 3", "not a weight");
  expect("public <r> = /nan/ a | /1/ b;", "line 3", "not a weight");
  expect("public <r> = /1/ a | b;", "line 3", "all alternatives have weights or none");
  expect("import <other.x>; public <r> = <x>;", "line 3", "a grammar in memory cannot import others");
  expect("public <r> = a; <r> = b;", "line 3", "defined twice");
  expect("public <r> = {tag a;", "line 3", "does not end");
  expect("", "line 3", "no rule");
  expect("public <r> = <nowhere>;", "", "<nowhere> is not defined");
  expect("<r> = a;", "", "no rule is public");
  expect("public <r> = <VOID>;", "", "no sentence can be said");
  expect("public <r> = " + std::string(10000, '(') + "a;", "line 3", "nested too deeply");
  EXPECT_THROW(parse_jsgf("not a grammar", "g.jsgf", LetterCase::kAsIs), Error);
}

TEST(Jsgf, EveryTruncationIsHandled) {
  const std::string text = "#JSGF V1.0;\ngrammar g;\npublic <r> = /2/ [a] (b {t})* | /1/ \"c\" <n>+; <n> = x; // end";
  for (size_t size = 0; size < text.size(); ++size) {
    try {
      rules_grammar(parse_jsgf(text.substr(0, size), "g.jsgf", LetterCase::kAsIs), "", kAnyWord, "g.jsgf");
    } catch (const Error &) {
    }
  }
}

TEST(Jsgf, WeightsAreFloatingPointLiteralsOfJava) {
  for (const char *weights : {"/8/ /2/", "/8f/ /2F/", "/ 8.0d / / 2.D /", "/.8/ /.2/", "/8e0/ /20e-1f/"}) {
    const std::string text = weights;
    const size_t middle = text.find("/ /") == 0 ? text.find("/ /", 1) : text.rfind("/ /");
    const Grammar grammar =
        grammar_of("public <a> = " + text.substr(0, middle + 1) + " x | " + text.substr(middle + 2) + " y;");
    expect_sentences(grammar, {{"x", 0.8}, {"y", 0.2}});
  }
  EXPECT_NE(message("public <a> = /8ff/ x | /2/ y;").find("/8ff/ is not a weight"), std::string::npos);
  EXPECT_NE(message("public <a> = /f/ x | /2/ y;").find("/f/ is not a weight"), std::string::npos);
}

TEST(Jsgf, OwnRulesHaveFullNames) {
  const std::string rules = "public <a> = <com.acme.g.b> <g.c> <b>; <b> = x; <c> = y;";
  const Grammar grammar = rules_grammar(parse_jsgf("#JSGF V1.0;\ngrammar com.acme.g;\n" + rules, "g.jsgf", LetterCase::kAsIs),
                                        "", kAnyWord, "g.jsgf");
  expect_sentences(grammar, {{"x y x", 1}});
}

TEST(Jsgf, TheRuleMayBeNamedInFull) {
  const Rules rules =
      parse_jsgf("#JSGF V1.0;\ngrammar com.acme.g;\npublic <a> = x; public <c> = z; <b> = y;", "g.jsgf", LetterCase::kAsIs);
  for (const char *name : {"b", "<b>", "g.b", "<g.b>", "com.acme.g.b", "<com.acme.g.b>"}) {
    expect_sentences(rules_grammar(rules, name, kAnyWord, "g.jsgf"), {{"y", 1}});
  }
  for (const char *name : {"B", "acme.g.b", "h.b", "g."}) {
    const std::string said = test::outcome_of([&] { rules_grammar(rules, name, kAnyWord, "g.jsgf"); }).message;
    EXPECT_EQ(said, "g.jsgf: the rule <" + std::string(name) + "> is not defined; its public rules are <a>, <c>");
  }
}

class JsgfImports : public ::testing::Test {
 protected:
  test::Scratch scratch_;

  void write(const std::string &name, const std::string &grammar, const std::string &rules) {
    std::filesystem::create_directories(std::filesystem::path(scratch_ / name).parent_path());
    test::spill(scratch_ / name, "#JSGF V1.0;\ngrammar " + grammar + ";\n" + rules);
  }
  Grammar read(const std::string &rules) {
    write("main.gram", "com.acme.main", rules);
    return rules_grammar(read_jsgf(scratch_ / "main.gram", LetterCase::kAsIs), "", kAnyWord, "main.gram");
  }
  std::string refusal(const std::string &rules) {
    return test::outcome_of([&] { read(rules); }).message;
  }
};

// All places of an imported file, and all names of its rule.
TEST_F(JsgfImports, RulesOfFilesBeside) {
  for (const char *file : {"com/acme/polite.gram", "com.acme.polite.gram", "polite.gram", "polite.jsgf"}) {
    write(file, "com.acme.polite", "public <start> = <inner> | kindly; <inner> = please; <hidden> = x;");
    for (const char *import : {"com.acme.polite.start", "com.acme.polite.*"}) {
      for (const char *name : {"start", "polite.start", "com.acme.polite.start"}) {
        const Grammar grammar = read("import <" + std::string(import) + ">;\npublic <a> = <" + name + "> go;");
        expect_sentences(grammar, {{"please go", 0.5}, {"kindly go", 0.5}});
      }
    }
    expect_sentences(read("public <a> = <com.acme.polite.start>;"), {{"please", 0.5}, {"kindly", 0.5}});
    expect_sentences(read("import <com.acme.polite.*>; public <a> = <start>; <start> = own;"), {{"own", 1}});
    std::filesystem::remove(scratch_ / file);
  }
}

TEST_F(JsgfImports, GrammarsMayImportEachOther) {
  write("two.gram", "two", "import <com.acme.main.go>; import <three.*>; public <b> = <go> <c>;");
  write("three.gram", "three", "import <two.b>; public <c> = z;");
  expect_sentences(read("import <two.b>; public <a> = <b>; public <go> = go;"), {{"go z", 0.5}, {"go", 0.5}});
}

TEST_F(JsgfImports, WhatCannotBeImported) {
  write("polite.gram", "polite", "public <start> = x; <hidden> = y;");
  write("impolite.gram", "impolite", "public <start> = z;");
  EXPECT_NE(
      refusal("import <no.such.rule>; public <a> = <rule>;").find("line 3, column 8: there is no file of the grammar no.such"),
      std::string::npos);
  EXPECT_NE(refusal("import <polite.hidden>; public <a> = x;").find("is not public"), std::string::npos);
  EXPECT_NE(refusal("import <polite.other>; public <a> = x;").find("has no rule <other>"), std::string::npos);
  EXPECT_NE(refusal("import <polite.*>; import <impolite.*>; public <a> = <start>;").find("several imported grammars"),
            std::string::npos);
  EXPECT_NE(refusal("import <start>; public <a> = x;").find("names a grammar and a rule"), std::string::npos);
  EXPECT_NE(refusal("import <..polite.start>; public <a> = x;").find("there is no file"), std::string::npos);
  EXPECT_NE(refusal("public <a> = <start>;").find("the rule <start> is not defined"), std::string::npos);
  EXPECT_NE(message("import <polite.start>; public <a> = <start>;").find("a grammar in memory cannot import"),
            std::string::npos);
}

}  // namespace
}  // namespace asr
