// SPDX-License-Identifier: Apache-2.0
// Pronunciations of words that a lexicon lacks, guessed from their letters by a grapheme-to-phoneme model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "builder/g2p/g2p_model.h"
#include "core/model/hmm_set.h"

namespace asr {

class GuessedWords {
 public:
  // Guesses up to `n_best` pronunciations of a word, with the phones of `set`.
  GuessedWords(std::shared_ptr<const G2pModel> model, const HmmSet &set, size_t n_best);

  // False for a word with letters that the model lacks, or which it cannot say with these phones.
  bool pronounces(const std::string &word);

  // By word: those that pronounces() was asked about and is true of.
  const std::map<std::string, std::vector<std::vector<uint32_t>>> &words() const { return words_; }

 private:
  const std::shared_ptr<const G2pModel> model_;
  const size_t n_best_;
  std::vector<uint32_t> phone_of_;  // of the set, by the model's; kNoPhone where the set lacks it
  std::map<std::string, std::vector<std::vector<uint32_t>>> words_;
};

}  // namespace asr
