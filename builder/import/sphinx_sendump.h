// SPDX-License-Identifier: Apache-2.0
// Reads CMU Sphinx's sendump: mixture weights quantised to 8 or 4 bits. Called by sphinx.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace asr::sphinx {

// Returns the natural logs of the weights, [senone][stream][density]; the sizes are the model's. The weights are returned as
// stored: their sums over densities are near 1, not 1.
std::vector<float> read_sendump(const std::string &path, uint32_t n_senones, uint32_t n_streams, uint32_t n_densities);

}  // namespace asr::sphinx
