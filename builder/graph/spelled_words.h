// SPDX-License-Identifier: Apache-2.0
// SpelledWords spells words missing in a lexicon with the tokens of a network: characters, or pieces of words as SentencePiece
// makes them. Its interface is that of GuessedWords.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/hmm_set.h"
#include "core/model/score_model.h"

namespace asr {

class SpelledWords {
 public:
  // A token that begins with U+2581 begins a word; if there are none, words begin like other letters do. With the scores of the
  // tokens, a word is spelled as SentencePiece does: by pairs if they are ranks, else by the greatest sum. Without, it has the
  // fewest tokens, the first of them as long as possible.
  SpelledWords(const HmmSet &set, const ScoreModel &scores);

  bool pronounces(const std::string &word);
  const std::map<std::string, std::vector<std::vector<uint32_t>>> &words() const { return words_; }

 private:
  std::unordered_map<std::string, uint32_t> token_of_;
  const std::vector<float> &scores_;  // [tokens], or empty
  bool marks_beginnings_ = false, are_ranks_ = false;
  size_t longest_ = 0;  // token, in bytes
  std::map<std::string, std::vector<std::vector<uint32_t>>> words_;

  const uint32_t *find(const std::string &text) const;
  std::vector<uint32_t> by_sum(const std::string &text) const;
  std::vector<uint32_t> by_pairs(const std::string &text) const;
};

}  // namespace asr
