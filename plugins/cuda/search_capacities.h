// SPDX-License-Identifier: Apache-2.0
// Initial capacities of the search's lists, tables and channels. Most double when a frame does not fit. Used by SearchLanes
// (search_lanes.h) and Search (search.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/common/open_options.h"

namespace asr::cuda {

struct SearchCapacities {
  uint32_t max_tokens = 1u << 14, max_candidates = 1u << 16, max_settled = 1u << 12;  // max_tokens: of scratch memory
  uint32_t channel_tokens = 1u << 14;
  uint32_t max_records = 112u << 10, max_links = 80u << 10, max_frames = 1u << 11;
  // Capacities when few channels share the memory: links for some 250 frames that were not pruned, and traces that are rarely
  // compacted.
  uint32_t max_links_of_few = 1280u << 10, max_records_of_few = 224u << 10;
  uint32_t n_shared_slots;  // most that a block's table in shared memory has

  // asr_backend_options::small_rooms, the slots that fit the shared memory of a block, and the device's memory. Growing
  // a channel and compacting its trace cost time. So channels of large GPUs begin with buffers for the hardest of usual
  // recordings. Each has up to 1/8192 of the memory for links, and as much for records.
  SearchCapacities(uint32_t small_rooms, uint32_t n_slots, size_t device_bytes) : n_shared_slots(n_slots) {
    constexpr uint32_t kBytesOfLink = 24, kBytesOfRecord = 12, kHardLinks = 384u << 10, kHardRecords = 1u << 20;
    const size_t share = small_rooms > 0 ? 0 : device_bytes / 8192;
    max_links = static_cast<uint32_t>(std::clamp<size_t>(share / kBytesOfLink, max_links, kHardLinks));
    max_records = static_cast<uint32_t>(std::clamp<size_t>(share / kBytesOfRecord, max_records, kHardRecords));
    max_records_of_few = std::max(max_records_of_few, max_records);
    if (max_links > kHardLinks / 2) channel_tokens *= 2;
    const auto shrink = [&](uint32_t &capacity, uint32_t least) { capacity = initial_capacity(capacity, small_rooms, least); };
    for (uint32_t *capacity : {&max_tokens, &channel_tokens, &max_settled, &max_frames}) shrink(*capacity, 16);
    for (uint32_t *capacity : {&max_records, &max_links, &max_links_of_few, &max_records_of_few}) shrink(*capacity, 64);
    shrink(max_candidates, 64);
    shrink(n_shared_slots, 64);
    max_tokens = std::max(max_tokens, n_shared_slots);
  }
};

}  // namespace asr::cuda
