// SPDX-License-Identifier: Apache-2.0
// Trains a grapheme-to-phoneme model on a dictionary: aligns letters with phones, then estimates an n-gram model over the
// units. The result is a deterministic function of dictionary and options.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "builder/g2p/dictionary.h"
#include "builder/g2p/g2p_model.h"

namespace asr {

struct G2pTraining {
  size_t n_pronunciations = 0;  // pronunciations used
  size_t n_left_out = 0;        // pronunciations without an alignment, or too long
  double log_likelihood = 0;    // nats per pronunciation, in the alignment's last iteration
  uint32_t n_iterations = 0;
};

// `words` selects the dictionary's words to use; empty = all. Throws if none can be aligned.
G2pModel train_g2p(const Pronunciations &dictionary, const std::vector<bool> &words, uint32_t order, const std::string &source,
                   const std::function<void(double share)> &progress, G2pTraining *training);

}  // namespace asr
