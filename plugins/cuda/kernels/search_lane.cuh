// SPDX-License-Identifier: Apache-2.0
// What a block knows of the channel it advances, in shared memory, and the table in which it finds the token of a state: open
// addressing, where a slot is claimed by one compare-and-swap and the least candidate of a state is one 64-bit minimum. The
// table lies in shared memory: its slots are all over the place, and many channels' tables would not fit the L2 cache. A
// channel with more tokens than fit there goes on with a wide table in global memory, by the same code.
#pragma once

#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/kernels/search_block.cuh"

namespace asr::cuda {

constexpr uint32_t kBins = 2048;
constexpr uint32_t kFreeSlot = 0xffffffffu, kNoSlot = 0xffffffffu;
constexpr unsigned long long kNoKey = ~0ull;

struct Lane {
  SearchJob job;
  uint32_t max_tokens, max_candidates;
  uint32_t n_shared_slots;
  unsigned long long *wide_keys;  // [2 * max_tokens]
  uint32_t *wide_states;          // [2 * max_tokens]
  uint32_t *record_of;            // [2 * max_tokens], by slot, of either table
  uint32_t *used;                 // [max_tokens], the slots in use
  ExpandItem *list[2];            // [max_tokens] each, the one that is followed and the one that is made
  Candidate *candidates;
  EpsilonLink *epsilon_links;  // [max_candidates / 4]

  unsigned long long list_size[2];  // items << 32 | arcs
  uint32_t n_candidates[2];         // with the list of that number
  uint32_t first_candidate;         // of the present list; in lattices those of emitting arcs stay before it
  uint32_t n_used, n_active, n_next, n_within;
  uint32_t n_epsilon_links, n_links[2];  // followed; of the frame, emitting ones and epsilon ones
  unsigned long long n_arcs;
  uint32_t best;  // ordered, so far
  float bound;
  uint32_t n_records_before;
  uint32_t overflow;
  volatile uint32_t is_full;  // a thread could not go on, the others need not

  unsigned long long threshold;  // of the keys of active tokens, where it is not the beam's
  uint32_t histogram[kBins];
  uint32_t bin, n_in_bin, n_left;
  uint32_t sums[kMaxWarps];
};

__device__ inline void set_scratch(Lane &lane, const SearchScratch &scratch) {
  const size_t n = scratch.max_tokens;
  const size_t n_candidates = scratch.max_candidates;
  uint4 *const memory = scratch.memory + blockIdx.x * (n * 4 + n / 4 + n_candidates + n_candidates / 4);
  lane.n_shared_slots = scratch.n_shared_slots;
  lane.max_tokens = scratch.max_tokens;
  lane.max_candidates = scratch.max_candidates;
  lane.wide_keys = reinterpret_cast<unsigned long long *>(memory);
  lane.wide_states = reinterpret_cast<uint32_t *>(memory + n);
  lane.record_of = lane.wide_states + 2 * n;
  lane.list[0] = reinterpret_cast<ExpandItem *>(memory + 2 * n);
  lane.list[1] = reinterpret_cast<ExpandItem *>(memory + 3 * n);
  lane.candidates = reinterpret_cast<Candidate *>(memory + 4 * n);
  lane.epsilon_links = reinterpret_cast<EpsilonLink *>(memory + 4 * n + n_candidates);
  lane.used = reinterpret_cast<uint32_t *>(memory + 4 * n + n_candidates + n_candidates / 4);
}

__device__ inline void report_full(Lane &lane, uint32_t what) {
  atomicOr(&lane.overflow, what);
  lane.is_full = 1;
}

extern __shared__ unsigned long long shared_table[];  // keys, then states

// A slot belongs to a state with a token of the frame under construction. Its key is the least (cost, arc + 1); arc is 0
// where a candidate must be cheaper, not equal, to replace the token.
template <bool kWide>
struct Table {
  Lane &lane;
  unsigned long long *const keys;
  uint32_t *const states;

  __device__ explicit Table(Lane &lane)
      : lane(lane),
        keys(kWide ? lane.wide_keys : shared_table),
        states(kWide ? lane.wide_states : reinterpret_cast<uint32_t *>(shared_table + lane.n_shared_slots)) {}

  __device__ uint32_t n_slots() const { return kWide ? 2 * lane.max_tokens : lane.n_shared_slots; }
  __device__ uint32_t most_used() const { return kWide ? n_slots() / 2 : n_slots() / 8 * 7; }
  __device__ unsigned long long key(uint32_t slot) const {
    return kWide ? __ldcg(&keys[slot]) : *const_cast<volatile unsigned long long *>(&keys[slot]);
  }
  __device__ uint32_t state(uint32_t slot) const {
    return kWide ? __ldcg(&states[slot]) : *const_cast<volatile uint32_t *>(&states[slot]);
  }
  __device__ void free(uint32_t slot) const {
    keys[slot] = kNoKey;
    states[slot] = kFreeSlot;
  }
  __device__ void block_free_all() const {
    for (uint32_t slot = threadIdx.x; slot < n_slots(); slot += blockDim.x) free(slot);
  }

  // The slot of a state, claimed if it had none. When more are used than there is room for, none, and the frame is void:
  // every thread claims at most one more before it sees that.
  __device__ uint32_t find(uint32_t wanted) const {
    const uint32_t mask = n_slots() - 1;
    const uint32_t hash = wanted * 0x9e3779b1u, step = hash >> 3 | 1;  // odd: it visits every slot
    uint32_t slot = __umulhi(hash, mask + 1);
    while (lane.is_full == 0) {
      uint32_t there = state(slot);
      if (there == kFreeSlot) {
        there = atomicCAS(&states[slot], kFreeSlot, wanted);
        if (there == kFreeSlot) {
          const uint32_t n = atomicAdd(&lane.n_used, 1u);
          if (n < most_used()) {
            lane.used[n] = slot;
          } else {
            report_full(lane, kEntriesFull);
          }
          return slot;
        }
      }
      if (there == wanted) return slot;
      slot = (slot + step) & mask;
    }
    return kNoSlot;
  }

  // Lowers a slot's key. False if it was no higher.
  __device__ bool lower(uint32_t slot, unsigned long long to) const {
    unsigned long long old = key(slot);
    if constexpr (kWide) {
      return to < old && atomicMin(&keys[slot], to) > to;
    } else {
      while (to < old) {
        const unsigned long long before = atomicCAS(&keys[slot], old, to);
        if (before == old) return true;
        old = before;
      }
      return false;
    }
  }
};

// Adds a token with n_arcs > 0 arcs to a list, for the lanes that want to.
__device__ inline void warp_add_item(Lane &lane, uint32_t list, uint32_t first_arc, uint32_t n_arcs, float cost,
                                     uint32_t token) {
  const uint32_t scanned = warp_scan(n_arcs), mask = __ballot_sync(kAllLanes, n_arcs != 0);
  unsigned long long size = 0;
  if (lane_number() == kWarp - 1 && mask != 0) {
    size = atomicAdd(&lane.list_size[list], static_cast<unsigned long long>(__popc(mask)) << 32 | scanned);
  }
  size = __shfl_sync(kAllLanes, size, kWarp - 1);
  const uint32_t place = static_cast<uint32_t>(size >> 32) + __popc(mask & ((1u << lane_number()) - 1));
  if (n_arcs == 0 || place >= lane.max_tokens) return;  // beyond them the frame is void
  lane.list[list][place] = {first_arc, cost, token, static_cast<uint32_t>(size) + scanned - n_arcs};
}

}  // namespace asr::cuda
