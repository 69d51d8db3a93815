// SPDX-License-Identifier: Apache-2.0
// ImportedModel is the result of every importer: the parts of a bundle that come from a model. Called by tools/import.cc.
#pragma once

#include <string>
#include <vector>

#include "core/model/acoustic_model.h"
#include "core/model/bundle.h"
#include "core/model/hmm_set.h"

namespace asr {

struct ImportedModel {
  AcousticModel acoustic;
  HmmSet hmms;
  Bundle bundle;                   // name, source, front_end, filler_words, decoding; path and files unused
  std::vector<std::string> notes;  // messages for the user: assumptions and omissions
};

// Checks that the parts fit together and writes senone.json, acoustic.bin and hmms.bin as the bundle `path`; of a model with
// bundle.scores no acoustic.bin, as it has no Gaussians. Leaves nothing behind on failure.
void write_imported_model(const ImportedModel &model, const std::string &path);

}  // namespace asr
