// SPDX-License-Identifier: Apache-2.0
// The search's warps on GPUs with sub-groups of 8 to 64 work-items (AMD: waves of 64 or 32): the operations of
// cl_khr_subgroups, no others. Work-groups are whole sub-groups.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define WARP get_max_sub_group_size()
#define MAX_WARPS (GROUP_SIZE / 8)

uint lane_number(void) { return get_sub_group_local_id(); }

// Returns the sum over this lane and all lower ones.
uint warp_scan(uint value) { return sub_group_scan_inclusive_add(value); }

// Returns the value of the last lane.
uint warp_last(uint value) { return sub_group_broadcast(value, WARP - 1); }

// Returns the number of lower lanes with `wanted`; *n_wanted counts all lanes with it.
uint warp_rank(bool wanted, uint *n_wanted) {
  const uint rank = sub_group_scan_inclusive_add(wanted ? 1u : 0u);
  *n_wanted = sub_group_broadcast(rank, WARP - 1);
  return rank - (wanted ? 1 : 0);
}

// Takes numbers that rise from lane to lane. Returns how many are at most the number of this lane; *n_begun is how many are
// less than WARP.
uint warp_begun(uint first, uint *n_begun) {
  const ulong mask =
      sub_group_reduce_add(first < WARP ? 1ul << first : 0ul);  // bits of their own, so that the sum is their union
  *n_begun = (uint)popcount(mask);
  return (uint)popcount(mask & ((2ul << lane_number()) - 1));
}
