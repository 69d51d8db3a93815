// SPDX-License-Identifier: Apache-2.0
// Reads the parts of a bundle from which graphs are built. Called by `senone graph` and libsenone_build.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/graph/grammar.h"
#include "builder/graph/token_expansion.h"
#include "core/model/bundle.h"
#include "core/model/hmm_set.h"

namespace asr {

// Returns the bundle's HMMs. Throws if it has none.
HmmSet read_hmms(const Bundle &bundle);

// Returns true if transitions that stay in an HMM state have pdfs that none has which leaves one, as in Kaldi's chain models.
// A Hmm has one pdf for each state, so such a model has graphs of Kaldi only.
bool has_pdfs_of_first_frames(const HmmSet &set);

// Throws if graphs cannot be built for the HMMs, because their contexts are unknown.
void check_contexts(const Bundle &bundle, const HmmSet &set);

// Returns the phones of the model's filler words, which may occur between words.
std::vector<uint32_t> filler_phones(const Bundle &bundle, const HmmSet &set);

// Returns how the bundle's tokens become frames; TokenTopology::kNone if it has HMMs.
TokenFrames token_frames(const Bundle &bundle);

// Returns the symbols of phones.txt.
std::vector<std::string> phone_symbols(const HmmSet &set);

// Returns true if the model has enough phones for a background of any speech. The phones of fewer are whole words or a toy's,
// so that a grammar of a few words says nearly what the background does, and right words would be rejected.
bool has_background_phones(const HmmSet &set);

// Records how results of the grammar are judged: its garbage, its keywords, and the threshold of rejection.
void note_results(const Grammar &grammar, const HmmSet &set, DecodingDefaults *decoding);

// Records the step that makes the graph. It replaces the record of the earlier graph's step.
void note_graph_step(Bundle *bundle, BundleStep step);

}  // namespace asr
