// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/guessed_words.h"

#include <algorithm>

#include "builder/g2p/pronounce.h"
#include "core/base/error.h"

namespace asr {

GuessedWords::GuessedWords(std::shared_ptr<const G2pModel> model, const HmmSet &set, size_t n_best)
    : model_(std::move(model)), set_(set), n_best_(n_best) {
  for (const std::string &phone : model_->phones) phone_of_.push_back(set.find_phone(phone));
}

bool GuessedWords::pronounces(const std::string &word) {
  if (words_.count(word) > 0) return true;
  std::vector<G2pResult> results;
  try {
    results = pronounce(*model_, word, {n_best_});
  } catch (const Error &error) {
    if (error.code() == ASR_OUT_OF_MEMORY) throw;
    return false;
  }
  for (const G2pResult &result : results) {
    std::vector<uint32_t> phones;
    for (size_t i = 0; i < result.phones.size(); ++i) {
      const uint32_t phone = phone_of_[result.phones[i]];
      const bool exists = phone != kNoPhone && set_.has_position(phone, position_in_word(i, result.phones.size()));
      phones.push_back(exists ? phone : kNoPhone);
    }
    if (std::find(phones.begin(), phones.end(), kNoPhone) == phones.end()) words_[word].push_back(std::move(phones));
  }
  return words_.count(word) > 0;
}

}  // namespace asr
