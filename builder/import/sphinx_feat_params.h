// SPDX-License-Identifier: Apache-2.0
// Reads CMU Sphinx's feat.params, with defaults for missing settings, as a front end and the floors of the model's parameters.
// Called by sphinx.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/feature/front_end.h"

namespace asr::sphinx {

struct FeatParams {
  FrontEnd front_end;
  std::vector<std::vector<uint32_t>> streams;  // dimensions of each feature stream
  double variance_floor = 1e-4, weight_floor = 1e-7, transition_floor = 1e-4;
  uint32_t lda_dims = 0;           // rows of the feature transform that are used; 0: all
  std::vector<std::string> notes;  // assumptions and omissions, for the user
};

// sample_rate_hz > 0 overrides the file. Settings outside this front end's abilities (automatic gain) are refused. Noise
// removal is on by default, as in version 0.8 of the programs that train such models.
FeatParams read_feat_params(const std::string &path, double sample_rate_hz);
FeatParams parse_feat_params(const std::string &text, const std::string &source, double sample_rate_hz);

}  // namespace asr::sphinx
