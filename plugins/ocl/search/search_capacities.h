// SPDX-License-Identifier: Apache-2.0
// Initial capacities of the search's lists, tables and channels. Most grow when a frame does not fit. Used by SearchLanes
// (search_lanes.h) and Search (search.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/gpu/runtime/open_options.h"
#include "plugins/gpu/search/search_channel.h"
#include "plugins/ocl/search/search_memory.h"

namespace asr::gpu {

struct SearchCapacities {
  uint32_t max_slots = 1u << 15, max_candidates = 1u << 16;  // capacities of a work-group
  uint32_t max_tokens = 1u << 13, max_records = 112u << 10, max_settled = 1u << 12;
  uint32_t max_links = 3u << 16, max_frames = 1u << 11;

  // asr_backend_options::initial_capacity_shift and max_lanes, the slots of the table in local memory, which are less than half
  // of max_slots, and the device's free memory. Channels begin smaller if max_lanes of them, or 64, would take over half of it.
  SearchCapacities(uint32_t initial_capacity_shift, uint32_t n_local_slots, uint32_t max_lanes, uint64_t free_bytes) {
    constexpr uint32_t kLeast = 1u << 10, kMaxHalvings = 6;
    const SearchCapacities usual = *this;
    const uint64_t n_channels = std::max(64u, max_lanes);
    for (uint32_t n = 1; n <= kMaxHalvings && n_channels * n_bytes_of(channel_size(true)) > free_bytes / 2; ++n) {
      max_tokens = initial_capacity(usual.max_tokens, n, kLeast);
      max_records = initial_capacity(usual.max_records, n, kLeast);
      max_links = initial_capacity(usual.max_links, n, kLeast);
      max_slots = initial_capacity(usual.max_slots, n, 4 * kLeast);
      max_candidates = initial_capacity(usual.max_candidates, n, 4 * kLeast);
    }
    const auto shrink = [&](uint32_t &capacity, uint32_t least) {
      capacity = initial_capacity(capacity, initial_capacity_shift, least);
    };
    for (uint32_t *capacity : {&max_tokens, &max_settled, &max_frames}) shrink(*capacity, 16);
    for (uint32_t *capacity : {&max_slots, &max_candidates, &max_records, &max_links}) shrink(*capacity, 64);
    while (max_slots / 2 <= n_local_slots) max_slots *= 2;
  }

  ChannelSize channel_size(bool makes_lattice) const {
    return {max_tokens, max_records, max_settled, makes_lattice ? max_links : 0, makes_lattice ? max_frames : 0};
  }
};

}  // namespace asr::gpu
