// SPDX-License-Identifier: Apache-2.0
// Determinises and minimises word automata with OpenFst. Only acceptor.cc includes OpenFst's headers.
#pragma once

#include "builder/graph/grammar.h"

namespace asr {

// Returns an equivalent grammar without epsilon arcs, connected, deterministic in (word, cost) and minimal.
Grammar optimise(const Grammar &grammar, const std::string &source);

}  // namespace asr
