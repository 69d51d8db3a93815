// SPDX-License-Identifier: Apache-2.0
// Parts of a bundle that graphs are built of. Called by `senone graph` and libsenone_build.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/bundle.h"
#include "core/model/hmm_set.h"

namespace asr {

// The bundle's HMMs. Throws if it has none.
HmmSet read_hmms(const Bundle &bundle);

// Throws if graphs cannot be built for the HMMs, since their contexts are not known.
void check_contexts(const Bundle &bundle, const HmmSet &set);

// The phones of the model's filler words, which may be said between words.
std::vector<uint32_t> filler_phones(const Bundle &bundle, const HmmSet &set);

// The symbols of phones.txt.
std::vector<std::string> phone_symbols(const HmmSet &set);

// The reject threshold of grammars' results (DecodingDefaults). Those of language models have none.
constexpr double kGrammarRejectThreshold = 0.5;

// Notes the step that makes the graph, in the place of the one that made the graph which this one replaces.
void note_graph_step(Bundle *bundle, BundleStep step);

}  // namespace asr
