// SPDX-License-Identifier: Apache-2.0
// The Lattice of what a back end's search left.
#pragma once

#include "core/backend/asr_backend.h"
#include "core/lattice/lattice.h"

namespace asr {

// word_insertion_cost: the search's; it becomes part of the graph costs.
Lattice lattice_from_backend(const asr_raw_lattice &raw, float word_insertion_cost);

}  // namespace asr
