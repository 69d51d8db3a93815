// SPDX-License-Identifier: Apache-2.0
// Finds the most probable pronunciations of a word that no dictionary has (docs/g2p.md).
#pragma once

#include <string>
#include <vector>

#include "builder/g2p/g2p_model.h"

namespace asr {

struct G2pOptions {
  size_t n_best = 1;
  double beam = 12;           // nats; histories worse than the best of their letter by more are dropped
  double min_share = 1e-6;    // least posterior of the pronunciations searched for
};

struct G2pResult {
  std::vector<uint32_t> phones;
  double posterior;  // share of the word's probability, over all alignments
};

// Returns distinct pronunciations, best first. `word` is UTF-8 in the dictionary's letter case. Throws if a letter is not in
// the model, or if the word is longer than kMaxSpelledLetters. Empty if the model cannot pronounce the word.
std::vector<G2pResult> pronounce(const G2pModel &model, const std::string &word, const G2pOptions &options);

}  // namespace asr
