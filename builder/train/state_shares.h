// SPDX-License-Identifier: Apache-2.0
// The shares that states have in the frames of a lattice (equation T0). A frame belongs to all states that paths of the
// lattice have there, in proportion to the paths' probabilities.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr::train {

// A row's share of a state.
struct StateShare {
  uint64_t row;
  uint32_t state;
  float share;
};

// pdf_of: of each transition id. Rows are the lattice's frames, in order; each row's shares add up to 1, and its states
// ascend. Shares below 1e-4 are left out. The lattice must have a path to a final state. Scores are not scaled.
std::vector<StateShare> state_shares(const asr_raw_lattice &raw, const std::vector<uint32_t> &pdf_of);

}  // namespace asr::train
