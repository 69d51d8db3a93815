// SPDX-License-Identifier: Apache-2.0
// Converts a word-level lattice to state level, for determinising lattices read from files and for writing lattice4.
#pragma once

#include "core/lattice/lattice.h"

namespace asr {

// Every arc becomes a chain of arcs with one transition-id each; the first of them has the word and the cost.
Lattice state_level(const CompactLattice &lattice);

}  // namespace asr
