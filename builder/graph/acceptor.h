// SPDX-License-Identifier: Apache-2.0
// Makes word automata deterministic and minimal with OpenFst, whose headers only acceptor.cc includes.
#pragma once

#include "builder/graph/grammar.h"

namespace asr {

// An equivalent grammar without epsilon arcs, connected, deterministic in (word, cost) and minimal.
Grammar optimise(const Grammar &grammar, const std::string &source);

}  // namespace asr
