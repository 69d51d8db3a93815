// SPDX-License-Identifier: Apache-2.0
// Which phones and HMM states lie where, read off the transition-ids of a path or of an arc of a lattice. Called by
// path_words for the times of words and by whoever asks for phones.
#pragma once

#include <functional>
#include <vector>

#include "core/model/hmm_set.h"

namespace asr {

using TransitionLookup = std::function<const Transition &(uint32_t transition_id)>;

struct StateSpan {
  uint32_t hmm_state, pdf;
  uint32_t begin, end;  // frames [begin, end)
};

struct PhoneSpan {
  uint32_t phone;    // base phone
  uint8_t position;  // in its word
  uint32_t begin, end;
  std::vector<StateSpan> states;
};

// Whether an instance of a phone begins at `now`, the transition after `before`. Transitions are those that enter a state
// or stay in it, and states are passed in ascending order.
bool phone_begins(const Transition &before, const Transition &now);

// transition_ids: of consecutive frames from first_frame on. What begins or ends inside a phone gives a part of it.
std::vector<PhoneSpan> align_phones(const uint32_t *transition_ids, uint32_t n, uint32_t first_frame,
                                    const TransitionLookup &transition);

}  // namespace asr
