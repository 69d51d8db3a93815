// SPDX-License-Identifier: Apache-2.0
// Warps (search_warp_*.h) and work-groups of the search's kernels append to lists and add up here. Functions named warp_* are
// called by whole warps, group_* by whole work-groups, which have barriers where the function says so.

uint warp_size(void) { return WARP; }
uint warp_number(void) { return (uint)get_local_id(0) / WARP; }

uint now(__local const uint *value) { return *(volatile __local const uint *)value; }  // while others may change it

// Reserves indices in a list for lanes with `wanted`, by one atomic operation a warp.
uint warp_append(__local uint *size, bool wanted) {
  uint n_wanted, first = 0;
  const uint rank = warp_rank(wanted, &n_wanted);
  if (n_wanted == 0) return 0;
  if (lane_number() == WARP - 1) first = atomic_add(size, n_wanted);
  return warp_last(first) + rank;
}

// Adds the values of a warp to a sum.
void warp_add(__local uint *sum, uint value) {
  const uint scanned = warp_scan(value);
  if (lane_number() == WARP - 1 && scanned > 0) atomic_add(sum, scanned);
}

// Returns the sum over the work-items before this one; *total is that over all. sums: [MAX_WARPS]. With barriers.
uint block_scan(uint value, __local uint *sums, uint *total) {
  const uint scanned = warp_scan(value);
  block_sync();  // earlier sums have been read
  if (lane_number() == WARP - 1) sums[warp_number()] = scanned;
  block_sync();
  uint before = 0;
  *total = 0;
  for (uint w = 0; w < GROUP_SIZE / WARP; ++w) {
    if (w < warp_number()) before += sums[w];
    *total += sums[w];
  }
  return before + scanned - value;
}

// Returns the work-item's share of n neighbouring elements.
Share share_of(uint n) { return share_of_thread(n, get_local_id(0), GROUP_SIZE); }
