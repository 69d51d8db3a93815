// SPDX-License-Identifier: Apache-2.0
// Imports an acoustic model of CMU Sphinx: continuous, semi-continuous or phonetically tied. Called by tools/import.cc.
#pragma once

#include <optional>
#include <string>

#include "builder/import/imported_model.h"

namespace asr {

struct SphinxOptions {
  std::string model_dir;
  std::string mdef, feat_params, noisedict;  // paths; empty = files with these names in model_dir
  double sample_rate_hz = 0;                 // 0 = the rate in feat.params
  std::optional<bool> noise_removal = {};    // unset = as in feat.params
};

ImportedModel import_sphinx(const SphinxOptions &options);

}  // namespace asr
