// SPDX-License-Identifier: Apache-2.0
// The table in which the token of a state is found: open addressing, where a slot is claimed by one compare-and-swap and the
// least candidate of a state is one 64-bit minimum. It lies in shared memory: its slots are all over the place, and many
// channels' tables would not fit the L2 cache. A channel with more tokens than fit there goes on with a table in global memory,
// and of a cluster each block has a table for the states that it owns (search_team.cuh), all by the same code.
#pragma once

#include "plugins/cuda/kernels/search_lane.cuh"

namespace asr::cuda {

// A slot belongs to a state with a token of the frame under construction. Its key is the least (cost, arc + 1); arc is 0
// where a candidate must be cheaper, not equal, to replace the token.
template <typename Team>
struct Table {
  Lane &lane;
  uint32_t *const states_;  // [n_slots()]

  __device__ explicit Table(Lane &lane)
      : lane(lane),
        states_(Team::kIsWide ? lane.wide_states : reinterpret_cast<uint32_t *>(shared_table + lane.n_shared_slots)) {}

  __device__ uint32_t n_slots() const { return Team::kIsWide ? lane.n_wide_slots : lane.n_shared_slots; }
  __device__ uint32_t most_claims() const {
    return Team::kIsCluster ? lane.max_claims : Team::kIsWide ? n_slots() / 2 : n_slots() / 8 * 7;
  }
  __device__ unsigned long long *key_at(uint32_t slot) const { return (Team::kIsWide ? lane.wide_keys : shared_table) + slot; }
  __device__ uint32_t *state_at(uint32_t slot) const { return states_ + slot; }
  // The path of a slot's token, and the token's number when it has one.
  __device__ uint32_t *record_at(uint32_t slot) const { return lane.record_of + slot; }
  __device__ uint32_t *number_at(uint32_t slot) const { return lane.number_of + slot; }
  __device__ unsigned long long key(uint32_t slot) const {
    return Team::kIsWide ? __ldcg(key_at(slot)) : *const_cast<volatile unsigned long long *>(key_at(slot));
  }
  __device__ uint32_t state(uint32_t slot) const {
    return Team::kIsWide ? __ldcg(state_at(slot)) : *const_cast<volatile uint32_t *>(state_at(slot));
  }
  __device__ float cost(uint32_t slot) const { return cost_of(static_cast<uint32_t>(key(slot) >> 32)); }
  __device__ void free(uint32_t slot) const {
    *key_at(slot) = kNoKey;
    *state_at(slot) = kFreeSlot;
  }
  __device__ void block_free_used() const {
    for (uint32_t i = threadIdx.x; i < lane.n_used; i += blockDim.x) free(lane.used[i]);
  }
  __device__ void block_free_own() const {
    for (uint32_t slot = threadIdx.x; slot < n_slots(); slot += blockDim.x) free(slot);
  }

  // The slot of a state, claimed if it had none; then *claimed. When a block has claimed more than it may, none, and the frame
  // is void: every thread claims at most one more before it sees that, for which small tables have no room.
  __device__ uint32_t find(uint32_t wanted, bool *claimed) const {
    const uint32_t mask = n_slots() - 1;
    const uint32_t hash = hash_of(wanted) * Team::size(), step = hash >> 3 | 1;  // odd: it visits every slot
    uint32_t slot = __umulhi(hash, mask + 1);
    for (uint32_t n_seen = 0; lane.is_full == 0 && n_seen <= mask; ++n_seen) {
      uint32_t there = state(slot);
      if (there == kFreeSlot) {
        there = atomicCAS(state_at(slot), kFreeSlot, wanted);
        *claimed = there == kFreeSlot;
        if (*claimed) return slot;
      }
      if (there == wanted) return slot;
      slot = (slot + step) & mask;
    }
    if (lane.is_full == 0) report_full(lane, kTableFull);
    return kNoSlot;
  }

  // Notes the slots that lanes have claimed.
  __device__ void warp_add_claims(uint32_t slot, bool claimed) const {
    const uint32_t n = warp_append(&lane.n_used, claimed);
    if (!claimed) return;
    if (n < most_claims()) {
      lane.used[n] = slot;
    } else {
      report_full(lane, kTableFull);
    }
  }

  // Lowers a slot's key. False if it was no higher.
  __device__ bool lower(uint32_t slot, unsigned long long to) const {
    unsigned long long *const at = key_at(slot);
    unsigned long long old = key(slot);
    if constexpr (Team::kIsWide) {
      return to < old && atomicMin(at, to) > to;
    } else {
      while (to < old) {
        const unsigned long long before = atomicCAS(at, old, to);
        if (before == old) return true;
        old = before;
      }
      return false;
    }
  }
};

}  // namespace asr::cuda
