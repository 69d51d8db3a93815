// SPDX-License-Identifier: Apache-2.0
// Lexicon is a pronunciation dictionary: words and their phone sequences.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/hmm_set.h"

namespace asr {

// LeftOut tells why a word of a dictionary has no pronunciation.
struct LeftOut {
  size_t line;
  std::string phone;  // which the model lacks

  std::string why() const;  // "line 3 has the phone 'XX', which the model lacks"
};

struct Lexicon {
  std::vector<std::vector<uint32_t>> pronunciations;                         // base phones, distinct, in lexicographic order
  std::unordered_map<std::string, std::vector<uint32_t>> pronunciations_of;  // word -> indices
  // -ln of the probabilities of a word's pronunciations, in their order; a word that is not here has probabilities of 1.
  std::unordered_map<std::string, std::vector<float>> costs_of;
  // Outputs are what results have instead of a word, by its pronunciations in their order; "": nothing. A word that is not here
  // is itself.
  std::unordered_map<std::string, std::vector<std::string>> outputs_of;
  std::map<std::string, LeftOut> left_out;  // the first left out of each word; the word may have other pronunciations

  std::vector<std::string> notes;  // about what the dictionary says and the graph does not have

  bool contains(const std::string &word) const { return pronunciations_of.count(word) != 0; }
};

// Reads CMU Sphinx form (builder/g2p/dictionary.h). Pronunciations with phones missing in the model are left out and counted in
// *n_left_out. If no word remains, the error names the first line. Phones of a model with positions in words may have Kaldi's
// endings (HELLO HH_B AH_I L_I OW_E); one in another position is an error.
Lexicon read_sphinx_lexicon(const std::string &path, const HmmSet &set, size_t *n_left_out);
Lexicon parse_sphinx_lexicon(const std::string &text, const std::string &source, const HmmSet &set, size_t *n_left_out);

// PackedLexicon is a dictionary of which a few words at a time are wanted. It takes a fifth of a Lexicon's memory, and no time
// to sort pronunciations.
class PackedLexicon {
 public:
  // As parse_sphinx_lexicon, except that a word with too many pronunciations is refused by restricted().
  PackedLexicon(const std::string &text, const std::string &source, const HmmSet &set);

  bool contains(const std::string &word) const { return begin_of(word) != end_of(word); }
  const LeftOut *left_out(const std::string &word) const;  // nullptr if nothing of the word was left out

  // Returns what asr::restricted would of the whole.
  Lexicon restricted(const std::vector<std::string> &words) const;

 private:
  struct Pronunciation {
    uint32_t word;      // where it begins in words_
    uint32_t first, n;  // its phones in phones_
    float cost;         // -ln of its probability
  };
  using Iterator = std::vector<Pronunciation>::const_iterator;

  const std::string source_;
  std::string words_;                          // each ends with a zero byte
  std::vector<uint32_t> phones_;               // base phones
  std::vector<Pronunciation> pronunciations_;  // sorted by word, those of a word in the order of the lines
  std::map<uint32_t, std::string> outputs_;    // HTK's output symbols, by `first`
  std::map<std::string, LeftOut> left_out_;

  const char *word_of(const Pronunciation &pronunciation) const { return words_.c_str() + pronunciation.word; }
  Iterator begin_of(const std::string &word) const;
  Iterator end_of(const std::string &word) const;
};

// Returns a note about the pronunciations that were left out, with the first words and the reasons.
std::string list_left_out(const Lexicon &lexicon, size_t n_left_out, const std::string &source);

// Adds pronunciations, by word; errors name `source` if a word gets too many.
void add_words(Lexicon *lexicon, const std::map<std::string, std::vector<std::vector<uint32_t>>> &words,
               const std::string &source);

// Returns the words of both lexicons, each with the pronunciations of both. `source` names the second in errors.
Lexicon merge(const Lexicon &first, const Lexicon &second, const std::string &source);

// Returns some of a lexicon's words with only their pronunciations. Ignores words that it lacks.
Lexicon restricted(const Lexicon &lexicon, const std::vector<std::string> &words);

// LexiconStack holds the union of many lexicons, with the result of `merge`. Adding a lexicon takes time by its own words, not
// by all: lexicons of similar sizes are merged, so that few remain. Copies share their content.
class LexiconStack {
 public:
  LexiconStack with(Lexicon added, const std::string &source) const;
  bool contains(const std::string &word) const;
  const LeftOut *left_out(const std::string &word) const;  // nullptr if nothing of the word was left out
  Lexicon restricted(const std::vector<std::string> &words) const;

 private:
  std::vector<std::shared_ptr<const Lexicon>> lexicons_;  // each has more than twice the words of the next
};

}  // namespace asr
