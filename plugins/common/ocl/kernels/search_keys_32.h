// SPDX-License-Identifier: Apache-2.0
// Least candidates and places in lists, where the device has atomic operations of 32 bits only, in two passes each: the least
// cost of a state and then the least arc of those that have it; places of items and then the arcs before them.

// Lowers a slot's cost. False if it was lower. The arc of a higher cost no longer counts.
bool lower_key(const Memory *m, uint slot, uint cost, uint arc) {
  volatile __global uint *const least = &m->slots[slot].cost;
  if (cost > *least) return false;
  const uint before = atomic_min(least, cost);
  if (cost < before) *(volatile __global uint *)&m->slots[slot].arc = 0xffffffffu;
  return cost <= before;
}

// After all candidates: the least arcs among equal costs.
void group_settle_keys(__local const Lane *lane, const Memory *m) {
  const uint n_candidates = n_candidates_of(lane, m);
  for (uint i = get_local_id(0); i < n_candidates; i += GROUP_SIZE) {
    const Candidate candidate = m->candidates[lane->first_candidate + i];
    __global Slot *const slot = &m->slots[candidate.slot & CANDIDATE_SLOT];
    if (slot->cost == ordered(candidate.cost)) atomic_min(&slot->arc, candidate.arc + 1);
  }
}

// Adds a token with n_arcs > 0 arcs to a list, for the lanes that want to. Its offset is the number of arcs for now.
void warp_add_item(__local Lane *lane, const Memory *m, uint list, uint first_arc, uint n_arcs, float cost, uint token) {
  const uint place = warp_append((__local uint *)&lane->list_size[list] + 1, n_arcs != 0);
  if (n_arcs == 0 || place >= m->max_slots) return;  // beyond them the frame is void
  const Item item = {first_arc, cost, token, n_arcs};
  items_of(m, list)[place] = item;
}

// After all items: their offsets, in two steps with add_up between them.
uint n_own_arcs(__local const Lane *lane, const Memory *m) {
  const Share share = share_of(min(n_items_of(lane, lane->list), m->max_slots));
  uint n = 0;
  for (uint i = share.begin; i < share.end; ++i) n += items_of(m, lane->list)[i].offset;
  return n;
}
void group_count_arcs(__local Lane *lane, const Memory *m) { warp_sum(lane->sums, n_own_arcs(lane, m)); }
void group_number_arcs(__local Lane *lane, const Memory *m) {
  const Share share = share_of(min(n_items_of(lane, lane->list), m->max_slots));
  uint before = warp_sum_before(lane->sums, n_own_arcs(lane, m));
  for (uint i = share.begin; i < share.end; ++i) {
    __global Item *const item = &items_of(m, lane->list)[i];
    const uint n_arcs = item->offset;
    item->offset = before;
    before += n_arcs;
  }
}
