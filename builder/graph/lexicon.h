// SPDX-License-Identifier: Apache-2.0
// A pronunciation dictionary: words and their phone sequences.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/hmm_set.h"

namespace asr {

struct Lexicon {
  std::vector<std::vector<uint32_t>> pronunciations;                         // base phones, distinct, in lexicographic order
  std::unordered_map<std::string, std::vector<uint32_t>> pronunciations_of;  // by word: indices

  bool contains(const std::string &word) const { return pronunciations_of.count(word) != 0; }
};

// CMU Sphinx form (builder/g2p/dictionary.h). Words whose phones the model lacks
// are left out and counted in *n_left_out; if none remains it is an error naming the line of the first.
Lexicon read_sphinx_lexicon(const std::string &path, const HmmSet &set, size_t *n_left_out);
Lexicon parse_sphinx_lexicon(const std::string &text, const std::string &source, const HmmSet &set, size_t *n_left_out);

// Adds pronunciations, by word; `source` is named where a word gets too many.
void add_words(Lexicon *lexicon, const std::map<std::string, std::vector<std::vector<uint32_t>>> &words,
               const std::string &source);

// The words of both; a word of both has the pronunciations of both. `source` names the second in errors.
Lexicon merge(const Lexicon &first, const Lexicon &second, const std::string &source);

// Some of a lexicon's words, and their pronunciations alone. Words that it lacks are passed over.
Lexicon restricted(const Lexicon &lexicon, const std::vector<std::string> &words);

// The words of many lexicons, as `merge` would have them. Adding one takes time by its own words, not by all: those of like
// sizes are merged, so that few are kept. Copies share what they hold.
class LexiconStack {
 public:
  LexiconStack with(Lexicon added, const std::string &source) const;
  bool contains(const std::string &word) const;
  Lexicon restricted(const std::vector<std::string> &words) const;

 private:
  std::vector<std::shared_ptr<const Lexicon>> lexicons_;  // each has more than twice the words of the next
};

}  // namespace asr
