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
  const uint32_t n_slots_;
  uint32_t *const states_;  // [n_slots_]

  __device__ explicit Table(SearchState &search)
      : search(search),
        n_slots_(Team::kIsWide ? search.n_wide_slots : search.n_shared_slots),
        states_(Team::kIsWide ? search.wide_states : reinterpret_cast<uint32_t *>(shared_table + search.n_shared_slots)) {}

  __device__ uint32_t max_claims() const { return Team::kIsWide ? n_slots_ / 2 : n_slots_ / 8 * 7; }
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
    for (uint32_t slot = threadIdx.x; slot < n_slots_; slot += blockDim.x) free(slot);
  }

  // Finds the slots of the states of lanes with `wanted`. Claims one, and sets *claimed, for a state that has none. A block
  // that claims more than it may gets no slot, and the frame is void. Every thread claims at most one more before it sees that,
  // which can exceed the capacity of small tables. The lanes of a warp take each step together: in a loop that each leaves by
  // itself they would not come together again after it, and do everything that follows one after the other.
  __device__ uint32_t warp_find(uint32_t state_wanted, bool wanted, bool *claimed) const {
    const uint32_t mask = n_slots_ - 1;
    const uint32_t hash = hash_of(state_wanted) * Team::size(), step = hash >> 3 | 1;  // odd: it visits every slot
    uint32_t slot = __umulhi(hash, mask + 1);
    *claimed = false;
    for (uint32_t n_seen = 0; __any_sync(kAllLanes, wanted); ++n_seen) {
      if (n_seen % 8 == 7 && __any_sync(kAllLanes, n_seen > mask || search.is_full != 0)) {
        if (wanted && search.is_full == 0) report_full(search, kTableFull);
        return wanted ? kNoSlot : slot;
      }
      if (!wanted) continue;
      uint32_t found = state(slot);
      if (found == kFreeSlot) {
        found = atomicCAS(state_at(slot), kFreeSlot, state_wanted);
        *claimed = found == kFreeSlot;
      }
      wanted = !*claimed && found != state_wanted;
      if (wanted) slot = (slot + step) & mask;
    }
    return slot;
  }

  // Notes the slots that lanes have claimed.
  __device__ void warp_add_claims(uint32_t slot, bool claimed) const {
    const uint32_t n = warp_append(&search.n_used, claimed);
    if (claimed && n < max_claims()) search.used[n] = slot;
    if (claimed && n >= max_claims()) report_full(search, kTableFull);
  }

  // Lowers the keys of the slots of lanes with `wanted`. Returns false in lanes whose key was no higher. The lanes take each
  // step together, as in warp_find().
  __device__ bool warp_lower(uint32_t slot, unsigned long long to, bool wanted) const {
    unsigned long long *const at = key_at(slot);
    unsigned long long old = wanted ? key(slot) : 0;
    if constexpr (Team::kIsWide) return to < old && atomicMin(at, to) > to;
    bool lowered = false, tries = to < old;
    while (__any_sync(kAllLanes, tries)) {
      if (!tries) continue;
      const unsigned long long before = atomicCAS(at, old, to);
      lowered = before == old;
      tries = !lowered && to < before;
      old = before;
    }
    return lowered;
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
  warp_add_item<Team>(table->search, list, first_arc, n_arcs, cost, token);
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
