// SPDX-License-Identifier: Apache-2.0
// The search's warps on NVIDIA's GPUs, whose OpenCL has no sub-groups: 32 neighbouring work-items and PTX's own instructions.
// WARP_REDUX is 1 where a warp can be reduced by one instruction (compute capability 8.0).
#define WARP 32u
#define MAX_WARPS (GROUP_SIZE / 32)

uint lane_number(void) { return get_local_id(0) % WARP; }

uint ballot(bool wanted) {
  uint mask;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(mask)
               : "r"((uint)wanted));
  return mask;
}

uint below(void) { return (1u << lane_number()) - 1; }

// Returns the sum over this lane and all lower ones.
uint warp_scan(uint value) {
#pragma unroll
  for (uint d = 1; d < WARP; d *= 2) {
    uint before;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(before) : "r"(value), "r"(d));
    value += lane_number() >= d ? before : 0;
  }
  return value;
}

// Returns the value of the last lane.
uint warp_last(uint value) {
  uint last;
  asm volatile("shfl.sync.idx.b32 %0, %1, 31, 31, 0xffffffff;" : "=r"(last) : "r"(value));
  return last;
}

// Returns the number of lower lanes with `wanted`; *n_wanted counts all lanes with it.
uint warp_rank(bool wanted, uint *n_wanted) {
  const uint mask = ballot(wanted);
  *n_wanted = popcount(mask);
  return popcount(mask & below());
}

// Takes numbers that rise from lane to lane. Returns how many are at most the number of this lane; *n_begun is how many are
// less than WARP.
uint warp_begun(uint first, uint *n_begun) {
  uint mask = first < WARP ? 1u << first : 0;
#if WARP_REDUX
  asm volatile("redux.sync.or.b32 %0, %1, 0xffffffff;" : "=r"(mask) : "r"(mask));
#else
#pragma unroll
  for (uint d = WARP / 2; d > 0; d /= 2) {
    uint other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other) : "r"(mask), "r"(d));
    mask |= other;
  }
#endif
  *n_begun = popcount(mask);
  return popcount(mask & (below() << 1 | 1));
}
