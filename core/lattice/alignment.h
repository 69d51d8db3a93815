// SPDX-License-Identifier: Apache-2.0
// Phone alignment: reads times of phones and HMM states off the transition-ids of a path or a lattice arc. path_words calls it
// for the times of words.
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
  uint8_t position;  // position in its word
  uint32_t begin, end;
  std::vector<StateSpan> states;
};

// Returns true if an instance of a phone begins at `now`, the transition after `before`. A transition is identified by the
// state that it enters or stays in, and states are passed in ascending order.
bool phone_begins(const Transition &before, const Transition &now);

// transition_ids: one per frame from first_frame on. A phone cut off at either end gives a partial span.
std::vector<PhoneSpan> align_phones(const uint32_t *transition_ids, uint32_t n, uint32_t first_frame,
                                    const TransitionLookup &transition);

}  // namespace asr
