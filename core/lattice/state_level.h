// SPDX-License-Identifier: Apache-2.0
// The state-level form of a word-level lattice, for determinising what was read from a file and for writing lattice4.
#pragma once

#include "core/lattice/lattice.h"

namespace asr {

// Every arc becomes a chain of arcs with one transition-id each; word and cost are on the first of them.
Lattice state_level(const CompactLattice &lattice);

}  // namespace asr
