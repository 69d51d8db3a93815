// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/srgs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "builder/graph/jsgf.h"
#include "core/base/error.h"

namespace asr {
namespace {

const Vocabulary kAnyWord{[](const std::string &) { return true; }, "any", false};

std::string grammar_text(const std::string &rules, const std::string &attributes = "root=\"r\"") {
  return "<?xml version=\"1.0\"?>\n<grammar version=\"1.0\" xmlns=\"http://www.w3.org/2001/06/grammar\" " + attributes + ">\n" +
         rules + "\n</grammar>\n";
}

Grammar from_srgs(const std::string &text, const std::string &rule = "") {
  return rules_grammar(parse_srgs(text, "g.grxml", LetterCase::kAsIs), rule, kAnyWord, "g.grxml");
}

// Returns the complete content of a grammar; equal automata have equal texts, as `optimise` numbers states alike.
std::multiset<std::string> arcs_of(const Grammar &grammar) {
  std::multiset<std::string> arcs;
  for (uint32_t state = 0; state < grammar.n_states(); ++state) {
    arcs.insert(format("%u ends %g", state, static_cast<double>(grammar.final_costs[state])));
    for (const GrammarArc &arc : grammar.arcs[state]) {
      const WordLabel &label = grammar.labels[arc.word];
      arcs.insert(format("%u %s [%s|%s] %g %u", state, grammar.words[arc.word].c_str(), label.rule.c_str(), label.tags.c_str(),
                         static_cast<double>(arc.cost), arc.next));
    }
  }
  return arcs;
}

// Expects the same grammar from both formats.
void expect_like(const std::string &rules, const std::string &jsgf) {
  const Rules other = parse_jsgf("#JSGF V1.0;\ngrammar g;\n" + jsgf, "g.jsgf", LetterCase::kAsIs);
  EXPECT_EQ(arcs_of(from_srgs(grammar_text(rules))), arcs_of(rules_grammar(other, "r", kAnyWord, "g.jsgf"))) << rules;
}

TEST(Srgs, IsReadLikeJsgf) {
  expect_like("<rule id='r'>turn <token>the</token> \"light on\"<!-- now --></rule>", "public <r> = turn the light on;");
  expect_like("<rule id='r'><one-of><item weight='3'>a b</item><item>c</item></one-of></rule>",
              "public <r> = /3/ a b | /1/ c;");
  expect_like("<rule id='r'>a <item repeat='0-1'>b</item><item repeat='1-'>c</item> <item repeat='0-'>d</item></rule>",
              "public <r> = a [b] c+ d*;");
  expect_like("<rule id='r'><item repeat='2'>a</item><item repeat='1-3'>b</item><item repeat='2-'>c</item></rule>",
              "public <r> = a a b [b [b]] c c+;");
  expect_like("<rule id='r'><ruleref uri='#n'/> x <ruleref special='NULL'/></rule><rule id='n' scope='public'>a</rule>",
              "public <r> = <n> x <NULL>; <n> = a;");
  expect_like("<rule id='r'><one-of><item>a <tag> A </tag></item><item><tag>B</tag>b c</item></one-of><tag>t</tag></rule>",
              "public <r> = (a {A} | {B} b c) {t};");
  expect_like("<rule id='r'>a&amp;b &#65;&#x42; <![CDATA[c<d]]><example>no</example></rule>", "public <r> = a&b AB \"c<d\";");
}

TEST(Srgs, RepetitionsGoOnByTheirProbability) {
  const Grammar grammar = from_srgs(grammar_text("<rule id='r'>a<item repeat='0-1' repeat-prob='0.25'>b</item></rule>"));
  bool found = false;
  for (const auto &arcs : grammar.arcs) {
    for (const GrammarArc &arc : arcs) found |= std::abs(arc.cost - 1.386294f) < 1e-4f;
  }
  EXPECT_TRUE(found);
}

TEST(Srgs, PublicRules) {
  const std::string rules = "<rule id='r' scope='public'>a</rule><rule id='s' scope='public'>b</rule><rule id='t'>c</rule>";
  EXPECT_EQ(from_srgs(grammar_text(rules)).words.size(), 2u);
  EXPECT_EQ(from_srgs(grammar_text(rules, "mode='voice'")).words.size(), 3u);
  EXPECT_EQ(from_srgs(grammar_text(rules), "t").words[1], "c");
}

TEST(Srgs, ErrorsNameTheirPlace) {
  const auto expect = [](const std::string &text, const std::string &message) {
    try {
      from_srgs(text);
      ADD_FAILURE() << text;
    } catch (const Error &error) {
      EXPECT_EQ(std::string(error.what()).find("g.grxml: " + message), 0u) << error.what();
    }
  };
  const auto in_grammar = [&](const std::string &rules, const std::string &message) { expect(grammar_text(rules), message); };
  expect("", "line 1, column 1: no element in it");
  expect("text", "line 1, column 1: text outside of the outermost element");
  expect("<a/>", "line 1, column 1: <grammar> expected, not <a>");
  expect("<!DOCTYPE grammar [<!ENTITY x 'y'>]><grammar/>", "line 1, column 1: document types are not read");
  expect("<grammar>", "line 1, column 10: <grammar> is not closed");
  expect("<grammar/><grammar/>", "line 1, column 11: a second outermost element");
  expect("<grammar><rule id='a'>x</rule></grammar>\n<b/>", "line 2, column 1: a second outermost element");
  expect(grammar_text("<rule id='a'>x</rule>"), "line 2, column 1: the root \"r\" is not among the rules");
  expect(grammar_text("", "mode='dtmf'"), "line 2, column 1: the mode \"dtmf\" is not supported");
  in_grammar("<rule id='r'>\n  a &nbsp;</rule>", "line 4, column 5: '&' begins");
  in_grammar("<rule id='r'>a &#0;</rule>", "line 3, column 16: '&' begins");
  in_grammar("<rule id='r'>a</item></rule>", "line 3, column 15: </item> closes nothing; <rule> is open");
  in_grammar("<rule id='r' id='s'>a</rule>", "line 3, column 14: id is given twice");
  in_grammar("<rule id=r>a</rule>", "line 3, column 10: a value in quotes expected");
  in_grammar("<rule>a</rule>", "line 3, column 1: the rule has no id");
  in_grammar("<rule id='r'>a</rule><rule id='r'>b</rule>", "line 3, column 22: the rule r is defined twice");
  in_grammar("<rule id='r'><one-of>x</one-of></rule>", "line 3, column 22: <item> expected in <one-of>");
  in_grammar("<rule id='r'><one-of/></rule>", "line 3, column 14: <one-of> has no items");
  in_grammar("<rule id='r'><item repeat='3-1'>a</item></rule>", "line 3, column 14: \"3-1\" is not a repeat");
  in_grammar("<rule id='r'><item repeat='99999'>a</item></rule>", "line 3, column 14: \"99999\" is not a repeat");
  in_grammar("<rule id='r'><item repeat='1-' repeat-prob='1'>a</item></rule>", "line 3, column 14: with a repeat-prob of 1");
  in_grammar("<rule id='r'><one-of><item weight='x'>a</item></one-of></rule>", "line 3, column 22: \"x\" is not a weight");
  in_grammar("<rule id='r'><ruleref uri='other.grxml#a'/></rule>", "line 3, column 14: \"other.grxml#a\" is not \"#\"");
  in_grammar("<rule id='r'><ruleref special='TRASH'/></rule>", "line 3, column 14: the special rule TRASH");
  in_grammar("<rule id='r'>a <ruleref uri='#n'/></rule>", "line 3, column 16: the rule <n> is not defined");
  in_grammar("<rule id='r'><token>a b</token></rule>", "line 3, column 14: 'a b' is not one word");
  in_grammar("<lexicon uri='x'/>", "line 3, column 1: <lexicon> is not supported here");
  std::string deep = "<rule id='r'>";
  for (int i = 0; i < 10000; ++i) deep += "<item>";
  in_grammar(deep, "line 3, column 1202: elements are nested too deeply");
}

TEST(Srgs, RepeatProbabilitiesOfNoneAndAll) {
  const auto expect_same = [](const std::string &item, const std::string &other) {
    EXPECT_EQ(arcs_of(from_srgs(grammar_text("<rule id='r'><item " + item + ">a</item> b</rule>"))),
              arcs_of(from_srgs(grammar_text("<rule id='r'>" + other + " b</rule>"))))
        << item;
  };
  expect_same("repeat='2-5' repeat-prob='1'", "<item repeat='5'>a</item>");
  expect_same("repeat='2-5' repeat-prob='0'", "<item repeat='2'>a</item>");
  expect_same("repeat='1-' repeat-prob='0'", "a");
}

TEST(Srgs, EveryTruncationIsHandled) {
  const std::string text = grammar_text(
      "<rule id='r'>a <one-of><item weight='.5'>b&amp;<tag>t</tag></item><item repeat='1-2'><![CDATA[c]]></item></one-of>"
      "<ruleref uri='#n'/></rule><!-- x --><rule id='n'><token>d</token></rule>");
  EXPECT_NO_THROW(from_srgs(text));
  for (size_t size = 0; size + 2 < text.size(); ++size) EXPECT_THROW(from_srgs(text.substr(0, size)), Error) << size;
}

}  // namespace
}  // namespace asr
