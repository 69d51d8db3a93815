// SPDX-License-Identifier: Apache-2.0
#include "core/graph/build/phrases.h"

#include <string_view>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

RuleNode parse_line(std::string_view line, uint32_t number, LetterCase letter_case) {
  RuleNode phrase;
  phrase.kind = RuleNode::kSequence;
  for (size_t at = line.find_first_not_of(kBlanks); at < line.size();) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    RuleNode word;
    word.kind = RuleNode::kWord;
    word.name = fold_case(std::string(line.substr(at, end - at)), letter_case);
    word.place = {number, static_cast<uint32_t>(at + 1)};
    phrase.parts.push_back(std::move(word));
    at = line.find_first_not_of(kBlanks, end);
  }
  return phrase;
}

}  // namespace

Rules parse_phrases(const std::string &text, const std::string &source, LetterCase letter_case) {
  RuleNode all;
  all.kind = RuleNode::kAlternatives;
  uint32_t number = 0;
  for (size_t at = text.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    RuleNode phrase = parse_line(std::string_view(text).substr(at, end - at), ++number, letter_case);
    at = end + 1;
    if (phrase.parts.empty() || phrase.parts[0].name[0] == '#') continue;
    all.parts.push_back(std::move(phrase));
    all.weights.push_back(1);
  }
  if (all.parts.empty()) fail(ASR_BAD_FILE, "%s: no phrases in it; put one on each line", source.c_str());
  Rules rules;
  rules.rules.emplace("", Rules::Rule{std::move(all), true});
  return rules;
}

}  // namespace asr
