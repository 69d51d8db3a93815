// SPDX-License-Identifier: Apache-2.0
// The most probable pronunciations of a word that no dictionary has (docs/g2p.md).
#pragma once

#include <string>
#include <vector>

#include "builder/g2p/g2p_model.h"

namespace asr {

struct G2pOptions {
  size_t n_best = 1;
  double beam = 12;           // nats; histories that are worse than the best of their letter are dropped
  double least_share = 1e-6;  // posterior below which pronunciations are not looked for
};

struct G2pResult {
  std::vector<uint32_t> phones;
  double posterior;  // share of the word's probability, over all ways to cut it into units
};

// Best first; none is there twice. `word` is UTF-8 in the dictionary's letter case. Throws where a letter is not in the
// model, and where the word is longer than kMostSpelledLetters; empty where the model has no way to say it.
std::vector<G2pResult> pronounce(const G2pModel &model, const std::string &word, const G2pOptions &options);

}  // namespace asr
