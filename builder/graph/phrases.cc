// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/phrases.h"

#include <algorithm>
#include <string_view>

#include "builder/g2p/dictionary.h"
#include "core/base/error.h"

namespace asr {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v", kBlanksAndTags = " \t\r\f\v{";

RuleNode parse_line(std::string_view line, uint32_t number, LetterCase letter_case, const std::string &source) {
  RuleNode phrase;
  phrase.kind = RuleNode::kSequence;
  for (size_t at = line.find_first_not_of(kBlanks); at < line.size();) {
    RuleNode part;
    part.place = {number, static_cast<uint32_t>(at + 1)};
    const bool is_tag = line[at] == '{';
    const size_t end = is_tag ? line.find('}', at) : line.find_first_of(kBlanksAndTags, at);
    if (is_tag && end == line.npos) {
      fail(ASR_BAD_FILE, "%s: %s: the tag has no end; put '}' behind it", source.c_str(), shown(part.place).c_str());
    }
    if (is_tag) {
      part.kind = RuleNode::kTag;
      part.name = tag_text(std::string(line.substr(at + 1, end - at - 1)));
    } else {
      part.kind = RuleNode::kWord;
      part.name = fold_case(std::string(line.substr(at, end - at)), letter_case);
    }
    if (!is_tag || !part.name.empty()) phrase.parts.push_back(std::move(part));
    at = line.find_first_not_of(kBlanks, is_tag ? end + 1 : end);
  }
  return phrase;
}

bool has_words(const RuleNode &phrase) {
  return std::any_of(phrase.parts.begin(), phrase.parts.end(),
                     [](const RuleNode &part) { return part.kind == RuleNode::kWord; });
}

}  // namespace

RuleNode phrase_alternatives(const std::string &text, const std::string &source, LetterCase letter_case) {
  RuleNode all;
  all.kind = RuleNode::kAlternatives;
  uint32_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++number;
    const size_t begin = line.find_first_not_of(kBlanks);
    if (begin == line.npos || line[begin] == '#') continue;
    RuleNode phrase = parse_line(line, number, letter_case, source);
    if (!has_words(phrase)) fail(ASR_BAD_FILE, "%s: line %u: no words; put a phrase before its tag", source.c_str(), number);
    all.parts.push_back(std::move(phrase));
    all.weights.push_back(1);
  }
  return all;
}

Rules phrase_rules(RuleNode phrases) {
  Rules rules;
  rules.rules.emplace("", Rules::Rule{std::move(phrases), true});
  return rules;
}

Rules parse_phrases(const std::string &text, const std::string &source, LetterCase letter_case) {
  RuleNode phrases = phrase_alternatives(text, source, letter_case);
  if (phrases.parts.empty()) fail(ASR_BAD_FILE, "%s: no phrases in it; put one on each line", source.c_str());
  return phrase_rules(std::move(phrases));
}

}  // namespace asr
