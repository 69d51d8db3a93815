// SPDX-License-Identifier: Apache-2.0
// Indices in the lists, for devices with atomic operations of 32 bits only: items are counted at once, the arcs before them in
// two steps of their own.

// Adds a token with n_arcs > 0 arcs to a list, for the lanes that want to. Its offset is the number of arcs for now.
void warp_add_item(__local SearchState *search, const Memory *m, uint list, uint first_arc, uint n_arcs, float cost,
                   uint token) {
  const uint index = warp_append((__local uint *)&search->list_size[list] + 1, n_arcs != 0);
  if (n_arcs == 0 || index >= m->max_slots) return;  // beyond them the frame is void
  const ExpandItem item = {first_arc, cost, token, n_arcs};
  items_of(m, list)[index] = item;
}

// After all items: their offsets, in two steps with add_up between them.
uint n_own_arcs(__local const SearchState *search, const Memory *m) {
  const Share share = share_of(min(n_items_of(search, search->list), m->max_slots));
  uint n = 0;
  for (uint i = share.begin; i < share.end; ++i) n += items_of(m, search->list)[i].offset;
  return n;
}
void group_count_arcs(__local SearchState *search, const Memory *m) { warp_sum(search->sums, n_own_arcs(search, m)); }
void group_number_arcs(__local SearchState *search, const Memory *m) {
  const Share share = share_of(min(n_items_of(search, search->list), m->max_slots));
  uint before = warp_sum_before(search->sums, n_own_arcs(search, m));
  for (uint i = share.begin; i < share.end; ++i) {
    __global ExpandItem *const item = &items_of(m, search->list)[i];
    const uint n_arcs = item->offset;
    item->offset = before;
    before += n_arcs;
  }
}
