// SPDX-License-Identifier: Apache-2.0
// What a block knows of the channel it advances, in shared memory, and the table in which it finds the token of a state. The
// table is open addressing over 16-byte entries, so that state, key and record are one sector of memory; an entry is claimed
// by one compare-and-swap, and the least candidate of a state is one 64-bit minimum.
#pragma once

#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/kernels/search_block.cuh"

namespace asr::cuda {

constexpr uint32_t kBins = 2048;

struct Lane {
  SearchJob job;
  uint32_t max_tokens, max_candidates;
  TokenEntry *table;    // [2 * max_tokens]
  uint32_t *used;       // [max_tokens], the entries in use
  ExpandItem *list[2];  // [max_tokens] each, the one that is followed and the one that is made
  Candidate *candidates;

  unsigned long long list_size[2];  // items << 32 | arcs
  uint32_t n_candidates[2];         // with the list of that number
  uint32_t n_used, n_active, n_next, n_within;
  unsigned long long n_arcs;
  uint32_t best;  // ordered, so far
  float bound;
  uint32_t n_records_before;
  uint32_t overflow;
  volatile uint32_t is_full;  // a thread could not go on, the others need not

  unsigned long long threshold;  // keys of active tokens are not above it
  uint32_t histogram[kBins];
  uint32_t bin, n_in_bin, n_left;
  uint32_t sums[kMaxWarps + 1];
};

__device__ inline void set_scratch(Lane &lane, const SearchScratch &scratch) {
  const size_t n = scratch.max_tokens;
  uint4 *const memory = scratch.memory + blockIdx.x * (n * 4 + n / 4 + scratch.max_candidates);
  lane.max_tokens = scratch.max_tokens;
  lane.max_candidates = scratch.max_candidates;
  lane.table = reinterpret_cast<TokenEntry *>(memory);
  lane.list[0] = reinterpret_cast<ExpandItem *>(memory + 2 * n);
  lane.list[1] = reinterpret_cast<ExpandItem *>(memory + 3 * n);
  lane.candidates = reinterpret_cast<Candidate *>(memory + 4 * n);
  lane.used = reinterpret_cast<uint32_t *>(memory + 4 * n + scratch.max_candidates);
}

__device__ inline void report_full(Lane &lane, uint32_t what) {
  atomicOr(&lane.overflow, what);
  lane.is_full = 1;
}

__device__ inline TokenEntry load_entry(const TokenEntry *entry) {
  const uint4 v = __ldcg(reinterpret_cast<const uint4 *>(entry));
  return {v.x, v.y, static_cast<unsigned long long>(v.w) << 32 | v.z};
}
__device__ inline void store_entry(TokenEntry *entry, uint32_t state, uint32_t record, unsigned long long key) {
  __stcg(reinterpret_cast<uint4 *>(entry), uint4{state, record, static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
}
__device__ inline void free_entry(TokenEntry *entry) { store_entry(entry, TokenEntry::kFree, 0, ~0ull); }

// The entry of a state, claimed if it had none. When more are used than there is room for, any entry, and the frame is void:
// every thread adds at most one entry more before it sees that, and half of the table is still free.
__device__ inline uint32_t find_entry(Lane &lane, uint32_t state) {
  const uint32_t mask = 2 * lane.max_tokens - 1;
  uint32_t slot = __umulhi(state * 0x9e3779b1u, mask + 1);
  while (lane.is_full == 0) {
    uint32_t there = __ldcg(&lane.table[slot].state);
    if (there == TokenEntry::kFree) {
      there = atomicCAS(&lane.table[slot].state, TokenEntry::kFree, state);
      if (there == TokenEntry::kFree) {
        const uint32_t n = atomicAdd(&lane.n_used, 1u);
        if (n < lane.max_tokens) {
          lane.used[n] = slot;
        } else {
          report_full(lane, kEntriesFull);
        }
        return slot;
      }
    }
    if (there == state) return slot;
    slot = (slot + 1) & mask;
  }
  return slot;
}

// Adds a token with n_arcs > 0 arcs to a list, for the lanes that want to.
__device__ inline void warp_add_item(Lane &lane, uint32_t list, uint32_t first_arc, uint32_t n_arcs, float cost,
                                     uint32_t record) {
  const uint32_t scanned = warp_scan(n_arcs), mask = __ballot_sync(kAllLanes, n_arcs != 0);
  unsigned long long size = 0;
  if (lane_number() == kWarp - 1 && mask != 0) {
    size = atomicAdd(&lane.list_size[list], static_cast<unsigned long long>(__popc(mask)) << 32 | scanned);
  }
  size = __shfl_sync(kAllLanes, size, kWarp - 1);
  const uint32_t place = static_cast<uint32_t>(size >> 32) + __popc(mask & ((1u << lane_number()) - 1));
  if (n_arcs == 0 || place >= lane.max_tokens) return;  // beyond them the frame is void
  lane.list[list][place] = {first_arc, cost, record, static_cast<uint32_t>(size) + scanned - n_arcs};
}

}  // namespace asr::cuda
