// SPDX-License-Identifier: Apache-2.0
// Indices in the lists, for devices with atomic operations of 64 bits: one counts items and arcs together.

// Adds the tokens of lanes with n_arcs > 0 to a list.
void warp_add_item(__local SearchState *search, const Memory *m, uint list, uint first_arc, uint n_arcs, float cost,
                   uint token) {
  uint n_wanted;
  const uint scanned = warp_scan(n_arcs), rank = warp_rank(n_arcs != 0, &n_wanted);
  if (n_wanted == 0) return;
  ulong size = 0;
  if (lane_number() == WARP - 1) size = atom_add(&search->list_size[list], (ulong)n_wanted << 32 | scanned);
  const uint index = warp_last((uint)(size >> 32)) + rank, offset = warp_last((uint)size) + scanned - n_arcs;
  if (n_arcs == 0 || index >= m->max_slots) return;  // beyond them the frame is void
  const ExpandItem item = {first_arc, cost, token, offset};
  items_of(m, list)[index] = item;
}

void group_number_arcs(__local SearchState *search, const Memory *m, uint list) {}  // they are numbered already
