// SPDX-License-Identifier: Apache-2.0
// Reads language models in ARPA text format.
#pragma once

#include "builder/graph/ngram.h"

namespace asr {

// Reads n-grams of up to kMaxNgramOrder words. Text before \data\ is comment, fields are separated by blanks, a missing
// back-off is 0, a positive logarithm counts as 0. Throws asr::Error with file and line.
NgramModel read_arpa(const std::string &path);
NgramModel parse_arpa(const std::string &text, const std::string &source);

}  // namespace asr
