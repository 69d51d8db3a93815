// SPDX-License-Identifier: Apache-2.0
// CMU Sphinx's feat.params: what it says, with the defaults of what it does not say, as a front end and the floors of the
// model's parameters. Called by sphinx.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/feature/front_end.h"

namespace asr::sphinx {

struct FeatParams {
  FrontEnd front_end;
  std::vector<std::vector<uint32_t>> streams;  // the dimensions of each feature stream
  double variance_floor = 1e-4, weight_floor = 1e-7, transition_floor = 1e-4;
  std::vector<std::string> notes;  // what was assumed or left out, for the user
};

// sample_rate_hz > 0 takes the place of the file's. What this front end cannot do (automatic gain) is refused. Noise removal
// is on unless the file says otherwise, as it is in the programs of version 0.8 that train such models.
FeatParams read_feat_params(const std::string &path, double sample_rate_hz);
FeatParams parse_feat_params(const std::string &text, const std::string &source, double sample_rate_hz);

}  // namespace asr::sphinx
