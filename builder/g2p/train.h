// SPDX-License-Identifier: Apache-2.0
// Trains a grapheme-to-phoneme model on a dictionary: aligns letters with phones, then estimates an n-gram model over
// the units. The same dictionary and options make the same bytes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "builder/g2p/dictionary.h"
#include "builder/g2p/g2p_model.h"

namespace asr {

struct G2pTraining {
  size_t n_pronunciations = 0;  // that were used
  size_t n_left_out = 0;        // without an alignment, or too long
  double log_likelihood = 0;    // nats a pronunciation, of the alignment's last iteration
  uint32_t n_iterations = 0;
};

// `words`: which of the dictionary's to use, all if empty. Throws if none can be aligned.
G2pModel train_g2p(const Pronunciations &dictionary, const std::vector<bool> &words, uint32_t order, const std::string &source,
                   const std::function<void(double share)> &progress, G2pTraining *training);

}  // namespace asr
