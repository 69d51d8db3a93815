// SPDX-License-Identifier: Apache-2.0
// Indices in the lists, for devices with atomic operations of 32 bits only. Items are counted at once, the arcs before
// them once the list is complete.

// Adds the tokens of lanes with n_arcs > 0 to a list. Its offset is the number of arcs for now.
void warp_add_item(__local SearchState *search, const Memory *m, uint list, uint first_arc, uint n_arcs, float cost,
                   uint token) {
  const uint index = warp_append((__local uint *)&search->list_size[list] + 1, n_arcs != 0);
  if (n_arcs == 0 || index >= m->max_slots) return;  // beyond them the frame is void
  const ExpandItem item = {first_arc, cost, token, n_arcs};
  items_of(m, list)[index] = item;
}

// Sets the offsets of items once all are appended. With barriers.
void group_number_arcs(__local SearchState *search, const Memory *m, uint list) {
  __global ExpandItem *const items = items_of(m, list);
  const Share share = share_of(min(n_items_of(search, list), m->max_slots));
  uint n_own = 0, n_arcs;
  for (uint i = share.begin; i < share.end; ++i) n_own += items[i].offset;
  uint before = block_scan(n_own, search->sums, &n_arcs);
  for (uint i = share.begin; i < share.end; ++i) {
    const uint n_of_item = items[i].offset;
    items[i].offset = before;
    before += n_of_item;
  }
  if (thread_number() == 0) search->list_size[list] += n_arcs;
  block_sync();
}
