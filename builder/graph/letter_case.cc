// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/letter_case.h"

#include <unordered_map>

#include "builder/text/unicode.h"
#include "core/base/error.h"

namespace asr {

LetterCase letter_case_named(const std::string &name) {
  return name == "upper" ? LetterCase::kUpper : name == "lower" ? LetterCase::kLower : LetterCase::kAsIs;
}

std::string fold_case(const std::string &word, LetterCase letter_case) {
  const bool is_name = !word.empty() && ((word.front() == '<' && word.back() == '>') || word.front() == '$');
  if (letter_case == LetterCase::kAsIs || is_name) return word;
  return letter_case == LetterCase::kLower ? to_lower(word) : to_upper(word);
}

void fold_case(std::vector<std::string> *words, LetterCase letter_case, const std::string &source) {
  if (letter_case == LetterCase::kAsIs) return;
  std::unordered_map<std::string, std::string> origin;
  for (std::string &word : *words) {
    const std::string folded = fold_case(word, letter_case);
    const auto [place, added] = origin.emplace(folded, word);
    if (!added) {
      fail(ASR_INVALID_ARGUMENT, "%s: '%s' and '%s' become one word with this --case; use --case asis or change one of them",
           source.c_str(), place->second.c_str(), word.c_str());
    }
    word = folded;
  }
}

}  // namespace asr
