// SPDX-License-Identifier: Apache-2.0
// GuessedWords pronounces words missing in a lexicon with a grapheme-to-phoneme model.
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
  // Guesses up to `n_best` pronunciations of a word, with the phones of `set`, which must outlive this.
  GuessedWords(std::shared_ptr<const G2pModel> model, const HmmSet &set, size_t n_best);
  GuessedWords(std::shared_ptr<const G2pModel> model, HmmSet &&set, size_t n_best) = delete;  // it would be gone

  // Returns false for a word with letters outside the model, or without a pronunciation in these phones.
  bool pronounces(const std::string &word);

  // Pronunciations of the words for which pronounces() returned true.
  const std::map<std::string, std::vector<std::vector<uint32_t>>> &words() const { return words_; }

 private:
  const std::shared_ptr<const G2pModel> model_;
  const HmmSet &set_;
  const size_t n_best_;
  std::vector<uint32_t> phone_of_;  // phone of the model -> phone of the set; kNoPhone if the set lacks it
  std::map<std::string, std::vector<std::vector<uint32_t>>> words_;
};

}  // namespace asr
