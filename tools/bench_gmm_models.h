// SPDX-License-Identifier: Apache-2.0
// Implements `senone bench gmm --models N`. It compares the scores of several models in one call with one call each,
// their fusion on the device, and one model with as many Gaussians. Called by bench_gmm.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/random_gmm.h"
#include "tools/bench.h"

namespace asr::tool {

struct GmmModelsBench {
  BenchOptions common;
  reference::RandomGmm model;  // each model has its own seed
  uint32_t n_models, n_frames, model_bits;
  std::vector<uint32_t> windows;
};
void run_gmm_models(const GmmModelsBench &bench);

}  // namespace asr::tool
