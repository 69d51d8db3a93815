// SPDX-License-Identifier: Apache-2.0
// DictionaryWords finds the words of a text in a dictionary, however they are written, and pronounces those that it lacks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builder/graph/guessed_words.h"
#include "builder/graph/lexicon.h"

namespace asr {

// Returns true for signs that stand alone, such as a dash between words: they are no words.
bool is_of_signs(const std::string &word);

class DictionaryWords {
 public:
  // g2p: a model of `senone g2p`, or "". The set must outlive this.
  DictionaryWords(const std::string &path, const HmmSet &set, const std::string &g2p, uint32_t n_variants);

  // Returns the form of a word that has a pronunciation: the word itself, the same in lower or upper case, or without the
  // punctuation around it. Throws if there is none, naming why.
  std::string form_of(const std::string &word);

  // Returns a lexicon of these forms.
  Lexicon lexicon_of(const std::vector<std::string> &forms) const;

 private:
  const std::string path_;
  const PackedLexicon lexicon_;
  std::optional<GuessedWords> guessed_;

  bool guesses(const std::string &word) { return guessed_ && guessed_->pronounces(word); }
};

}  // namespace asr
