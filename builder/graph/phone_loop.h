// SPDX-License-Identifier: Apache-2.0
// The background that rejection compares a grammar with: any phones in any order, each with its HMM without context. Called by
// `senone graph`; docs/rejection.md says what it is for.
#pragma once

#include <vector>

#include "builder/graph/hmm_states.h"
#include "core/graph/graph.h"

namespace asr {

// Phones cost the same, and `fillers` count as phones. A phone's word is its number in the set plus 1, which is its number in
// phones.txt. Every phone may be the last.
GraphData make_phone_loop(const HmmSet &set, const TransitionScales &scales);

}  // namespace asr
