// SPDX-License-Identifier: Apache-2.0
// The least candidate of a state: the least cost is found first. A step of its own then finds the least arc with this
// cost. In global memory, where the device has atomic operations of 64 bits, one minimum of cost and arc does both.
#if INT64_ATOMICS
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

// Lowers a slot's cost; the arc of a higher cost no longer counts. False if it was lower. A slot has no arc before the first
// step of emitting arcs ends.
bool lower_cost(volatile __global uint *slot_arc, bool has_arc, uint before, uint cost) {
  if (has_arc && cost < before) *slot_arc = 0xffffffffu;
  return cost <= before;
}

// Lowers a slot's key. False if the arc cannot be the best.
bool lower_key(const Memory *m, bool emitting, uint slot, uint cost, uint arc) {
  volatile __global uint *const slot_arc = &m->slots[slot].arc;
  if (is_local(m, slot)) {
    volatile __local uint *const least = &m->table->costs[slot];
    return cost <= *least && lower_cost(slot_arc, !emitting, atomic_min(least, cost), cost);
  }
#if INT64_ATOMICS
  volatile __global ulong *const key = (volatile __global ulong *)slot_arc;
  const ulong to = (ulong)cost << 32 | arc;
  return to < *key && atom_min(key, to) > to;
#else
  volatile __global uint *const least = &m->slots[slot].cost;
  return cost <= *least && lower_cost(slot_arc, !emitting, atomic_min(least, cost), cost);
#endif
}

void group_settle_keys(__local const SearchState *search, const Memory *m, bool emitting, uint list) {
  const uint first = first_candidate_of(search, emitting), n_candidates = n_candidates_of(search, m, emitting, list);
  for (uint i = get_local_id(0); i < n_candidates; i += GROUP_SIZE) {
    const Candidate candidate = m->candidates[first + i];
    const uint slot = candidate.slot & kCandidateSlot;
    if (cost_in(m, slot) == ordered(candidate.cost)) atomic_min(&m->slots[slot].arc, candidate.arc + 1);
  }
}
