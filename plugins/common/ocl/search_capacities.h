// SPDX-License-Identifier: Apache-2.0
// Initial capacities of the search's lists, tables and channels. Most grow when a frame does not fit. Used by SearchLanes
// (search_lanes.h) and Search (search.h).
#pragma once

#include <cstdint>

#include "plugins/common/open_options.h"

namespace asr::ocl {

struct SearchCapacities {
  uint32_t max_slots = 1u << 15, max_candidates = 1u << 16;  // capacities of a work-group
  uint32_t max_tokens = 1u << 13, max_records = 112u << 10, max_settled = 1u << 12;
  uint32_t max_links = 3u << 16, max_frames = 1u << 11;

  // asr_backend_options::small_rooms, and the slots of the table in local memory, which are less than half of max_slots.
  SearchCapacities(uint32_t small_rooms, uint32_t n_local_slots) {
    const auto shrink = [&](uint32_t &capacity, uint32_t least) { capacity = initial_capacity(capacity, small_rooms, least); };
    for (uint32_t *capacity : {&max_tokens, &max_settled, &max_frames}) shrink(*capacity, 16);
    for (uint32_t *capacity : {&max_slots, &max_candidates, &max_records, &max_links}) shrink(*capacity, 64);
    while (max_slots / 2 <= n_local_slots) max_slots *= 2;
  }
};

}  // namespace asr::ocl
