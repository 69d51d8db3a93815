// SPDX-License-Identifier: Apache-2.0
// CMU Sphinx's filler dictionary (noisedict): the words that are silence and noises. Called by sphinx.cc.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/hmm_set.h"

namespace asr::sphinx {

using Pronunciations = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The filler words of `text`, of which those with phones that the model lacks are left out with a note. <s>, </s> and <sil>
// are added where the model has a silence phone and the text does not list them.
Pronunciations parse_noisedict(const std::string &text, const std::string &source, const HmmSet &hmms,
                               std::vector<std::string> &notes);

}  // namespace asr::sphinx
