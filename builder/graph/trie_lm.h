// SPDX-License-Identifier: Apache-2.0
// Reads CMU Sphinx's binary language models ("Trie Language Model"): quantised, bit-packed, in a trie from the last word
// backwards.
#pragma once

#include "builder/graph/ngram.h"
#include "builder/text/text_file.h"

namespace asr {

NgramModel read_trie_lm(const std::string &path);

// Reads ARPA text or trie, distinguished by content. characters: whether words of ARPA text get Unicode's normal form C.
NgramModel read_language_model(const std::string &path, Characters characters = Characters::kNormalised);

}  // namespace asr
