// SPDX-License-Identifier: Apache-2.0
// Initial capacities of the search's lists, tables and channels. Most double when a frame does not fit. Used by SearchLanes
// (search_lanes.h) and Search (search.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "plugins/cuda/search/search_launch.h"
#include "plugins/gpu/runtime/open_options.h"
#include "plugins/gpu/search/search_channel.h"

namespace asr::gpu {

// The facts on which the capacities depend.
struct CapacityFacts {
  uint32_t initial_capacity_shift;  // asr_backend_options::initial_capacity_shift
  uint32_t n_slots, n_row;          // slots that fit the shared memory of a block, and values of a row beside them
  uint32_t max_lanes;               // channels of an advance
  uint32_t n_multiprocessors;       // most blocks beside each other
  uint64_t device_bytes;            // memory of the device,
  uint64_t free_bytes;              // and what is free of it
};

struct SearchCapacities {
  uint32_t max_tokens = 1u << 14, max_candidates = 1u << 16, max_settled = 1u << 12;  // max_tokens: of scratch memory
  uint32_t channel_tokens = 1u << 14;
  uint32_t max_records = 112u << 10, max_links = 80u << 10, max_frames = 1u << 11;
  // Capacities when few channels share the memory: links for some 250 frames that were not pruned, and traces that are rarely
  // compacted.
  uint32_t max_links_of_few = 1280u << 10, max_records_of_few = 224u << 10;
  uint32_t n_shared_slots;  // most that a block's table in shared memory has
  uint32_t n_shared_row;    // most values of a row beside it; 0 if capacities are small for tests

  // Growing a channel and compacting its trace cost time. So channels of large GPUs begin with buffers for the hardest of usual
  // recordings: each has up to 1/4096 of the memory for links, and as much for records. Where others have left little of the
  // memory, channels begin smaller: half of what is free is for max_lanes channels, or for 64, and a quarter
  // for scratch memory of as many blocks as run beside each other.
  explicit SearchCapacities(const CapacityFacts &facts) : SearchCapacities(facts, facts.device_bytes / 4096, 0) {
    const uint64_t n_channels = std::max(64u, facts.max_lanes);
    uint64_t share = facts.device_bytes / 4096;
    for (uint32_t n_halvings = 0; n_halvings < kMaxHalvings;) {
      const bool is_usual = share <= kUsualShare;
      const bool channels_fit = n_channels * channel_bytes() <= facts.free_bytes / 2;
      const bool scratch_fits = is_usual || 2 * uint64_t{facts.n_multiprocessors} * scratch_bytes() <= facts.free_bytes / 4;
      if (channels_fit && scratch_fits) break;
      is_usual ? ++n_halvings : share /= 2;
      *this = SearchCapacities(facts, share, n_halvings);
    }
    const uint64_t bytes_of_few = uint64_t{max_links_of_few} * kBytesOfLink + uint64_t{max_records_of_few} * kBytesOfRecord;
    if (kMaxOfFew * bytes_of_few > facts.free_bytes / 4) max_links_of_few = max_links, max_records_of_few = max_records;
  }

  ChannelSize channel_size(bool makes_lattice) const {
    return {channel_tokens, max_records, max_settled, makes_lattice ? max_links : 0, makes_lattice ? max_frames : 0};
  }

 private:
  static constexpr uint32_t kBytesOfLink = 24, kBytesOfRecord = 12, kHardLinks = 1536u << 10, kHardRecords = 1u << 20;
  static constexpr uint64_t kUsualShare = uint64_t{80u << 10} * kBytesOfLink;  // gives the capacities above, at most
  static constexpr uint32_t kManyLinks = 192u << 10;                           // a channel that has more has more tokens, too
  static constexpr uint32_t kMaxHalvings = 6;                                  // of the capacities above
  static constexpr uint32_t kMaxOfFew = 16;                                    // channels of two advances that clusters serve
  static constexpr uint32_t kLeast = 1u << 10;  // no capacity is halved to less, unless initial_capacity_shift says so

  // share: bytes of links, and of records; n_halvings: of capacities that grow with the load.
  SearchCapacities(const CapacityFacts &facts, uint64_t share, uint32_t n_halvings)
      : n_shared_slots(facts.n_slots), n_shared_row(facts.initial_capacity_shift > 0 ? 0 : facts.n_row) {
    if (facts.initial_capacity_shift > 0) share = 0;
    max_links = static_cast<uint32_t>(std::clamp<uint64_t>(share / kBytesOfLink, max_links, kHardLinks));
    max_records = static_cast<uint32_t>(std::clamp<uint64_t>(share / kBytesOfRecord, max_records, kHardRecords));
    max_records_of_few = std::max(max_records_of_few, max_records);
    if (max_links > kManyLinks) channel_tokens *= 2;
    for (uint32_t *capacity : {&channel_tokens, &max_records, &max_links, &max_links_of_few, &max_records_of_few}) {
      *capacity = initial_capacity(*capacity, n_halvings, kLeast);
    }
    max_candidates = initial_capacity(max_candidates, n_halvings, 4 * kLeast);
    const auto shrink = [&](uint32_t &capacity, uint32_t least) {
      capacity = initial_capacity(capacity, facts.initial_capacity_shift, least);
    };
    for (uint32_t *capacity : {&max_tokens, &channel_tokens, &max_settled, &max_frames}) shrink(*capacity, 16);
    for (uint32_t *capacity : {&max_records, &max_links, &max_links_of_few, &max_records_of_few}) shrink(*capacity, 64);
    shrink(max_candidates, 64);
    shrink(n_shared_slots, 64);
    max_tokens = std::max(max_tokens, n_shared_slots);
  }

  uint64_t channel_bytes() const {
    return uint64_t{channel_tokens} * 2 * sizeof(SearchToken) + uint64_t{max_records} * kBytesOfRecord +
           uint64_t{max_settled} * sizeof(PathStep) + uint64_t{max_links} * kBytesOfLink + max_frames * sizeof(SearchFrame);
  }
  // Scratch memory of a block, as SearchFlight enlarges it for such channels.
  uint64_t scratch_bytes() const {
    uint32_t n_candidates = max_candidates;
    while (n_candidates <= max_records / 2) n_candidates *= 2;
    return search_scratch_size(std::max(max_tokens, channel_tokens), n_candidates) * sizeof(uint4);
  }
};

}  // namespace asr::gpu
