// SPDX-License-Identifier: Apache-2.0
// WordLm scores words by a back-off n-gram model, one after another. PrefixSearch asks it.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "builder/graph/ngram.h"

namespace asr {

class WordLm {
 public:
  // unigrams: words that are known, of which those in the model count; has_unigrams: false if nobody knows which.
  WordLm(NgramModel model, const std::vector<std::string> &unigrams, bool has_unigrams);

  size_t order() const { return model_.order(); }
  // The words before the next one as a number, which a caller may keep: 0 for none.
  uint64_t start(bool with_boundary) const { return with_boundary ? start_ : 0; }
  bool is_state(uint64_t state) const;
  // Returns ln p(word | state), and sets `next`.
  double score(uint64_t state, const std::string &word, uint64_t *next) const;
  double score_end(uint64_t state) const;
  // Whether the offset for unknown words counts for a word, and for the beginning of one.
  bool is_unknown(const std::string &word) const;
  bool begins_unknown(const std::string &part) const;

 private:
  const NgramModel model_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<std::string> unigrams_;  // sorted
  const bool has_unigrams_;
  uint32_t unknown_, end_;
  uint64_t start_ = 0;

  uint32_t id_of(const std::string &word) const;
  double score_id(uint64_t state, uint32_t word, uint64_t *next) const;
};

}  // namespace asr
