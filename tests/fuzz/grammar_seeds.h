// SPDX-License-Identifier: Apache-2.0
// Valid language models, grammars and dictionaries that several targets start from.
#pragma once

namespace asr::fuzz {

inline constexpr char kArpa[] =
    "text before\n\\data\\\nngram 1=4\nngram 2=3\nngram 3=1\n\n\\1-grams:\n-1.5 <s> -0.3\n-0.7 a -0.2\n-0.9 b\n-1 </s>\n\n"
    "\\2-grams:\n-0.4 <s> a -0.1\n-0.5 a b\n-0.6 b </s>\n\n\\3-grams:\n-0.2 <s> a b\n\n\\end\\\n";

inline constexpr char kJsgf[] =
    "#JSGF V1.0;\ngrammar test;\n/* a comment */\npublic <top> = [please] (/0.3/ open | /0.7/ close) <thing>+ | <thing>*;\n"
    "<thing> = the (door | window) {tag};\n";

inline constexpr char kSrgs[] =
    "<?xml version=\"1.0\"?>\n<grammar root=\"top\" mode=\"voice\" tag-format=\"semantics/1.0-literals\">\n<!-- a comment -->\n"
    "<rule id=\"top\" scope=\"public\"><item repeat=\"0-1\">please</item> <one-of><item weight=\"0.3\">open<tag>O</tag></item>"
    "<item weight='.7'><tag>C</tag>close</item></one-of> <item repeat=\"1-\" repeat-prob=\".4\"><ruleref "
    "uri=\"#thing\"/></item>"
    "</rule>\n<rule id=\"thing\">the <token>door</token><example>x</example> &amp; <![CDATA[window]]><ruleref "
    "special=\"NULL\"/>"
    "</rule>\n</grammar>\n";

// Uses the phones of test::small_hmm_set() and has all words of kArpa and kJsgf.
inline constexpr char kDictionary[] =
    "a A B\na(2) B\nb B A\nplease A\nopen B\nclose A A\nthe B B\ndoor A B A\nwindow B A B\n<sil> SIL\n";

}  // namespace asr::fuzz
