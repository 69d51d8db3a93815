// SPDX-License-Identifier: Apache-2.0
// The table in which the token of a state is found. It has open addressing: one compare-and-swap claims a slot, and one 64-bit
// minimum finds the least candidate of a state. It lies in shared memory, since many channels' tables would not fit the L2
// cache and slots are visited in no order. A channel with more tokens goes on with a table in global memory. In a cluster each
// block has a table for the states that it owns (search_team.cuh). All use the same code.
#pragma once

#include "plugins/cuda/search/search_state.cuh"

namespace asr::gpu {

// A slot belongs to a state with a token of the frame under construction. Its key is the least (cost, arc + 1); arc is 0
// where a candidate must be cheaper, not equal, to replace the token.
template <typename Team>
struct Table {
  SearchState &search;
  uint32_t *const states_;  // [n_slots()]

  __device__ explicit Table(SearchState &search)
      : search(search),
        states_(Team::kIsWide ? search.wide_states : reinterpret_cast<uint32_t *>(shared_table + search.n_shared_slots)) {}

  __device__ uint32_t n_slots() const { return Team::kIsWide ? search.n_wide_slots : search.n_shared_slots; }
  __device__ uint32_t max_claims() const { return Team::kIsWide ? n_slots() / 2 : n_slots() / 8 * 7; }
  __device__ unsigned long long *key_at(uint32_t slot) const {
    return (Team::kIsWide ? search.wide_keys : shared_table) + slot;
  }
  __device__ uint32_t *state_at(uint32_t slot) const { return states_ + slot; }
  // Returns the address of a slot's record: its token's path, and the token's number when it has one.
  __device__ uint32_t *record_at(uint32_t slot) const { return search.record_of + slot; }
  __device__ uint32_t *number_at(uint32_t slot) const { return search.number_of + slot; }
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
    for (uint32_t i = threadIdx.x; i < search.n_used; i += blockDim.x) free(search.used[i]);
  }
  __device__ void block_free_own() const {
    for (uint32_t slot = threadIdx.x; slot < n_slots(); slot += blockDim.x) free(slot);
  }

  // Finds the slot of a state. Claims one, and sets *claimed, if the state has none. A block that claims more than it
  // may gets no slot, and the frame is void. Every thread claims at most one more before it sees that, which can exceed
  // the capacity of small tables.
  __device__ uint32_t find(uint32_t wanted, bool *claimed) const {
    const uint32_t mask = n_slots() - 1;
    const uint32_t hash = hash_of(wanted) * Team::size(), step = hash >> 3 | 1;  // odd: it visits every slot
    uint32_t slot = __umulhi(hash, mask + 1);
    for (uint32_t n_seen = 0; search.is_full == 0 && n_seen <= mask; ++n_seen) {
      uint32_t found = state(slot);
      if (found == kFreeSlot) {
        found = atomicCAS(state_at(slot), kFreeSlot, wanted);
        *claimed = found == kFreeSlot;
        if (*claimed) return slot;
      }
      if (found == wanted) return slot;
      slot = (slot + step) & mask;
    }
    if (search.is_full == 0) report_full(search, kTableFull);
    return kNoSlot;
  }

  // Notes the slots that lanes have claimed.
  __device__ void warp_add_claims(uint32_t slot, bool claimed) const {
    const uint32_t n = warp_append(&search.n_used, claimed);
    if (!claimed) return;
    if (n < max_claims()) {
      search.used[n] = slot;
    } else {
      report_full(search, kTableFull);
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

// The threads of a team, numbered so that consecutive warps are of different blocks.
template <typename Team>
__device__ inline uint32_t team_thread_number(const Table<Team> *) {
  return (warp_number() * Team::size() + Team::rank()) * kWarp + lane_number();
}
template <typename Team>
__device__ inline uint32_t team_n_threads(const Table<Team> *) {
  return Team::size() * blockDim.x;
}
template <typename Team>
__device__ inline void team_sync(const Table<Team> *) {
  Team::sync();
}

// ---- the hooks of search_frame-inl.h ----

template <typename Team>
__device__ inline bool has_lattice(const Table<Team> *table) {
  return table->search.job.lattice.lattice_beam > 0;
}
template <typename Team>
__device__ inline void warp_append_item(const Table<Team> *table, uint32_t list, uint32_t first_arc, uint32_t n_arcs,
                                        float cost, uint32_t token) {
  warp_add_item(table->search, list, first_arc, n_arcs, cost, token);
}
template <typename Team>
__device__ inline bool has_key(const Table<Team> *table, uint32_t slot, float cost, uint32_t arc) {
  return table->key(slot) == make_key(cost, arc);
}
template <typename Team>
__device__ inline void must_undercut(const Table<Team> *table, uint32_t slot, float cost) {
  *table->key_at(slot) = make_key(cost, 0);
}
template <typename Team>
__device__ inline uint32_t slot_state(const Table<Team> *table, uint32_t slot) {
  return table->state(slot);
}
template <typename Team>
__device__ inline float slot_cost(const Table<Team> *table, uint32_t slot) {
  return table->cost(slot);
}
template <typename Team>
__device__ inline uint32_t slot_number(const Table<Team> *table, uint32_t slot) {
  return *table->number_at(slot);
}
template <typename Team>
__device__ inline uint32_t slot_record(const Table<Team> *table, uint32_t slot) {
  return *table->record_at(slot);
}
template <typename Team>
__device__ inline uint32_t n_used_slots(const Table<Team> *table) {
  return min(table->search.n_used, table->max_claims());
}
template <typename Team>
__device__ inline uint32_t used_slot(const Table<Team> *table, uint32_t i) {
  return table->search.used[i];
}
template <typename Team>
__device__ inline void free_slot(const Table<Team> *table, uint32_t slot) {
  table->free(slot);
}
template <typename Team>
__device__ inline void set_slot_number(const Table<Team> *table, uint32_t slot, uint32_t number) {
  *table->number_at(slot) = number;
}
template <typename Team>
__device__ inline void set_slot_record(const Table<Team> *table, uint32_t slot, uint32_t record) {
  *table->record_at(slot) = record;
}

}  // namespace asr::gpu
