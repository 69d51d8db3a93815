// SPDX-License-Identifier: Apache-2.0
// Tests lists of keywords, and garbage in grammars and in their graphs.
#include "builder/graph/keywords.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "builder/graph/build.h"
#include "builder/graph/jsgf.h"
#include "builder/graph/srgs.h"
#include "core/base/error.h"

namespace asr {
namespace {

const Vocabulary kAnyWord{[](const std::string &) { return true; }, "any", false};

Keywords parsed(const std::string &text) { return parse_keywords(text, "list", LetterCase::kAsIs); }

TEST(Keywords, HaveThresholdsAndTags) {
  const Keywords keywords = parsed("# a comment about /usr/share/\nturn on {ON} /0.7/\n\n stop\r\nand/or\n");
  EXPECT_EQ(keywords.names, (std::vector<std::string>{"turn on", "stop", "and/or"}));
  EXPECT_EQ(keywords.thresholds, (std::vector<double>{0.7, kKeywordThreshold, kKeywordThreshold}));
  const Grammar grammar = keyword_grammar(keywords, kAnyWord, "list");
  EXPECT_EQ(grammar.keywords.at("turn on"), 0.7);
  EXPECT_EQ(grammar.words, (std::vector<std::string>{"<eps>", "<GARBAGE>", "turn", "on", "stop", "and/or"}));
  EXPECT_EQ(grammar.words[grammar.garbage], "<GARBAGE>");
  EXPECT_EQ(grammar.labels[2].rule, "turn on");
  EXPECT_EQ(grammar.labels[2].tags, "");
  EXPECT_EQ(grammar.labels[3].rule, "turn on");
  EXPECT_EQ(grammar.labels[3].tags, "ON");
  EXPECT_EQ(grammar.final_costs[grammar.start], 0);
}

TEST(Keywords, SayWhatIsWrong) {
  const auto expect = [](const std::string &text, const std::string &what) {
    try {
      parsed(text);
      ADD_FAILURE() << text;
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  expect("", "list: no keywords in it");
  expect("stop\nforward /1e-20/\n",
         "list: line 2, column 9: /1e-20/ is not a threshold, which is a confidence of 0.001 to 1; those of "
         "PocketSphinx");
  expect("stop /1.5/", "/1.5/ is not a threshold");
  expect("stop /x/", "/x/ is not a threshold");
  expect("stop\nstop /0.3/", "list: line 2: \"stop\" is in line 1 already");
  expect("{tag} /0.3/", "line 1: no words");
  expect("stop\n /0.3/\n", "line 2: no words; put a keyword before its threshold");
  expect("stop /0.3/ {tag}", "line 1, column 6: /0.3/ is no word");
  expect("/0.3/ stop", "line 1, column 1: /0.3/ is no word");
  expect("stop /0.3/ /0.4/", "line 1, column 6: /0.3/ is no word");
}

TEST(Keywords, LeaveOutWordsWithoutAPronunciation) {
  Vocabulary some{[](const std::string &word) { return word == "stop"; }, "some", true};
  const Grammar grammar = keyword_grammar(parsed("stop now\nstop\n"), some, "list");
  EXPECT_EQ(grammar.words, (std::vector<std::string>{"<eps>", "<GARBAGE>", "stop"}));
  EXPECT_THROW(keyword_grammar(parsed("go\n"), some, "list"), Error);
}

Grammar from_jsgf(const std::string &rules) {
  return rules_grammar(parse_jsgf("#JSGF V1.0;\ngrammar g;\n" + rules, "g", LetterCase::kAsIs), "", kAnyWord, "g");
}

// Returns whether the words may be said, with "*" for a phone of garbage.
bool accepts(const Grammar &grammar, const std::vector<std::string> &words) {
  std::set<uint32_t> reached = {grammar.start};
  for (const std::string &word : words) {
    std::set<uint32_t> next;
    for (const uint32_t state : reached) {
      for (const GrammarArc &arc : grammar.arcs[state]) {
        if (arc.word == grammar.garbage ? word == "*" : grammar.words[arc.word] == word) next.insert(arc.next);
      }
    }
    reached = next;
  }
  for (const uint32_t state : reached) {
    if (grammar.final_costs[state] != kNotFinal) return true;
  }
  return false;
}

TEST(Garbage, IsAnySpeechOrNoneInJsgf) {
  const Grammar grammar = from_jsgf("public <r> = <GARBAGE> call {c} (ann | bob) <GARBAGE> {late};");
  EXPECT_TRUE(accepts(grammar, {"call", "ann"}));
  EXPECT_TRUE(accepts(grammar, {"*", "*", "*", "call", "bob", "*"}));
  EXPECT_FALSE(accepts(grammar, {"*", "call", "*", "ann"}));
  EXPECT_FALSE(accepts(grammar, {"*"}));
  for (size_t word = 1; word < grammar.words.size(); ++word) {
    EXPECT_EQ(grammar.labels[word].tags, grammar.words[word] == "call" ? "c" : "");
  }
  EXPECT_THROW(from_jsgf("<GARBAGE> = a; public <r> = <GARBAGE>;"), Error);
}

TEST(Garbage, KeepsTagsOnTheWordsBeforeAndAfterIt) {
  const Grammar grammar = from_jsgf("public <r> = call {c} <GARBAGE> {next} ann {a};");
  EXPECT_TRUE(accepts(grammar, {"call", "ann"}));
  EXPECT_EQ(std::count(grammar.words.begin(), grammar.words.end(), "call"), 1);
  std::map<std::string, std::string> tags;
  for (size_t word = 1; word < grammar.words.size(); ++word) tags[grammar.words[word]] = grammar.labels[word].tags;
  EXPECT_EQ(tags.at("call"), "c");
  EXPECT_EQ(tags.at("ann"), "next\na");
}

TEST(Garbage, IsASpecialRuleOfSrgs) {
  const Rules rules = parse_srgs(
      "<grammar xmlns='http://www.w3.org/2001/06/grammar' version='1.0' xml:lang='en' root='r'>\n"
      "<rule id='r'><ruleref special='GARBAGE'/>stop</rule></grammar>",
      "g", LetterCase::kAsIs);
  const Grammar grammar = rules_grammar(rules, "", kAnyWord, "g");
  EXPECT_TRUE(accepts(grammar, {"*", "stop"}));
  EXPECT_TRUE(accepts(grammar, {"stop"}));
  EXPECT_FALSE(accepts(grammar, {"stop", "*"}));
}

// The graph has each phone that is no filler once more, outside of words.
TEST(Garbage, HasAllPhonesButFillers) {
  HmmSet set;
  set.topologies = {{1, {{0, 0, 0.5f}, {0, 1, 0.5f}, {kEntry, 0, 0}}}};
  set.hmms = {{0, {0}}, {0, {1}}, {0, {2}}};
  set.phones = {{"SIL", true, 0}, {"A", false, 1}, {"B", false, 2}};
  set.silence = 0;
  set.n_pdfs = 3;
  Lexicon lexicon;
  lexicon.pronunciations = {{1, 2}};
  lexicon.pronunciations_of = {{"ab", {0}}};
  GraphSizes sizes{};
  const auto silent = [](double, const std::string &) {};
  const GraphData graph = build_graph(set, lexicon, keyword_grammar(parsed("ab"), kAnyWord, "list"), {}, silent, &sizes);
  std::set<std::pair<uint32_t, bool>> found;  // phone, whether it is in a word
  for (size_t id = 1; id < graph.transitions.size(); ++id) {
    found.emplace(graph.transitions[id].phone, graph.transitions[id].position != kAnyPosition);
  }
  EXPECT_EQ(found, (std::set<std::pair<uint32_t, bool>>{{0, false}, {1, false}, {1, true}, {2, false}, {2, true}}));
  std::set<uint32_t> words;
  for (const auto &arc : graph.arcs) words.insert(arc.word);
  EXPECT_EQ(words, (std::set<uint32_t>{0, 2}));
}

}  // namespace
}  // namespace asr
