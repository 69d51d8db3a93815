// SPDX-License-Identifier: Apache-2.0
// Folds the case of a grammar's words, for a dictionary that is all upper or all lower case.
#pragma once

#include <string>
#include <vector>

namespace asr {

enum class LetterCase { kAsIs, kLower, kUpper };
LetterCase letter_case_named(const std::string &name);  // "asis", "lower", "upper"

// Folds all letters (builder/text/unicode.h); words in angle brackets (<s>, <unk>) and names of classes ($name) stay.
std::string fold_case(const std::string &word, LetterCase letter_case);

// Folds a whole list, which must stay free of repetitions. Throws naming two words that become equal.
void fold_case(std::vector<std::string> *words, LetterCase letter_case, const std::string &source);

}  // namespace asr
