// SPDX-License-Identifier: Apache-2.0
// Makes the background graph with which rejection compares a grammar: any phones in any order, each with its
// context-independent HMM. Called by `senone graph`; docs/rejection.md explains its use.
#pragma once

#include <vector>

#include "builder/graph/hmm_states.h"
#include "core/graph/graph.h"

namespace asr {

// All phones have the same cost, and `fillers` count as phones. A phone's word is its number in the set plus 1, which is its
// number in phones.txt. Every phone may be the last.
GraphData make_phone_loop(const HmmSet &set, const TransitionScales &scales);

}  // namespace asr
