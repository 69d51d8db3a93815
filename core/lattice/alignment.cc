// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/alignment.h"

namespace asr {

bool phone_begins(const Transition &before, const Transition &now) {
  if (now.phone != before.phone || now.position != before.position) return true;
  return now.hmm_state < before.hmm_state || (now.hmm_state == before.hmm_state && !now.self_loop);
}

std::vector<PhoneSpan> align_phones(const uint32_t *transition_ids, uint32_t n, uint32_t first_frame,
                                    const TransitionLookup &transition) {
  std::vector<PhoneSpan> phones;
  for (uint32_t i = 0; i < n; ++i) {
    const Transition &now = transition(transition_ids[i]);
    const uint32_t frame = first_frame + i;
    if (i == 0 || phone_begins(transition(transition_ids[i - 1]), now)) {
      phones.push_back({now.phone, now.position, frame, frame, {}});
    }
    PhoneSpan &phone = phones.back();
    if (phone.states.empty() || phone.states.back().hmm_state != now.hmm_state) {
      phone.states.push_back({now.hmm_state, now.pdf, frame, frame});
    }
    phone.end = phone.states.back().end = frame + 1;
  }
  return phones;
}

}  // namespace asr
