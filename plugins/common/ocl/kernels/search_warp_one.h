// SPDX-License-Identifier: Apache-2.0
// The search's warps where work-items have nothing in common but local memory: every work-item is a warp of its own.
#define WARP 1u
#define MAX_WARPS GROUP_SIZE

uint lane_number(void) { return 0; }

// Returns the sum over this lane and all lower ones.
uint warp_scan(uint value) { return value; }

// Returns the value of the last lane.
uint warp_last(uint value) { return value; }

// Returns the number of lower lanes with `wanted`; *n_wanted counts all lanes with it.
uint warp_rank(bool wanted, uint *n_wanted) {
  *n_wanted = wanted ? 1 : 0;
  return 0;
}

// Takes numbers that rise from lane to lane. Returns how many are at most the number of this lane; *n_begun is how many are
// less than WARP.
uint warp_begun(uint first, uint *n_begun) {
  *n_begun = first == 0 ? 1 : 0;
  return *n_begun;
}
