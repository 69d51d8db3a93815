// SPDX-License-Identifier: Apache-2.0
// Imports acoustic models of HTK (hmmdefs text) and of Julius (binary HMMs). Called by tools/import_htk.cc.
#pragma once

#include <string>
#include <vector>

#include "builder/import/imported_model.h"

namespace asr {

struct HtkOptions {
  std::vector<std::string> models;  // HTK: macro files and hmmdefs, in this order; Julius: one file
  std::string hmm_list;             // "logical physical" names of phones in context; empty = the HMMs' own names
  std::string config;               // HTK configuration of the front end (HCopy); empty = HTK's defaults
  double sample_rate_hz = 16000;    // used if the configuration has no SOURCERATE
  double energy_scale = 0.1;        // used if the configuration has no ESCALE: 0.1 in HTK, 1 in Julius
  bool features_only = false;       // the model's features are computed elsewhere
};

ImportedModel import_htk(const HtkOptions &options);
ImportedModel import_julius(const HtkOptions &options);

// Returns the front end of a parameter kind (htk_model.h) with rows of the given length. Adds messages about assumptions to
// `notes`.
FrontEnd htk_front_end_of(uint16_t kind, uint32_t n_dims, const HtkOptions &options, std::vector<std::string> &notes);

}  // namespace asr
