// SPDX-License-Identifier: Apache-2.0
// Reads CMU Sphinx's filler dictionary (noisedict): the words for silence and noises. Called by sphinx.cc.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/hmm_set.h"

namespace asr::sphinx {

using Pronunciations = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Returns the filler words of `text`. Words with phones missing in the model are left out with a note. Adds <s>, </s> and <sil>
// if the model has a silence phone and the text does not list them.
Pronunciations parse_noisedict(const std::string &text, const std::string &source, const HmmSet &hmms,
                               std::vector<std::string> &notes);

}  // namespace asr::sphinx
