// SPDX-License-Identifier: Apache-2.0
// Reads CMU Sphinx's binary language models ("Trie Language Model": quantised, bit-packed, in a trie from the last word
// back).
#pragma once

#include "builder/graph/ngram.h"

namespace asr {

bool is_trie_lm(const std::string &path);  // by the file's first bytes
NgramModel read_trie_lm(const std::string &path);

// ARPA text or trie, told apart by content.
NgramModel read_language_model(const std::string &path);

}  // namespace asr
