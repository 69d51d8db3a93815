// SPDX-License-Identifier: Apache-2.0
// What the 16 work-items of a frame tell each other on NVIDIA's GPUs, whose OpenCL has no sub-groups: they are half a warp, and
// PTX's own instructions take numbers from one to the other. Included by mfcc_512.cl.

// What they wrote into local memory is seen by all of them.
static inline void frame_sync(void) { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

// What item i of the frame has.
static inline float of_item(float value, uint i) {
  uint found;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x101f, 0xffffffff;" : "=r"(found) : "r"(as_uint(value)), "r"(i));
  return as_float(found);
}

// The sum over the items, for all of them.
static inline float frame_sum(float value, uint j, __local float *exchange) {
#pragma unroll
  for (uint d = 1; d < ITEMS; d *= 2) value += of_item(value, j ^ d);
  return value;
}

// The sample before each pair x[r]: the item before has it, or, for item 0, the last item in the row above.
static inline void find_previous(__constant MfccOptions *o, const float2 *x, float before, uint j, __local float *exchange,
                                 float *previous) {
#pragma unroll
  for (uint r = 0; r < 16; ++r) {
    if (r >= N_ROWS) break;
    const float neighbour = of_item(x[r].y, (j + ITEMS - 1) % ITEMS);
    previous[r] = j > 0 ? neighbour : before;
    before = neighbour;
  }
}

// opposite[r]: frequency 256 - k (0 for 0), k = j + 16 r, of a transform whose frequencies j, j + 16 ... item j has.
static inline void find_opposite(const float2 *z, uint j, __local float *exchange, float2 *opposite) {
  const uint other = (ITEMS - j) % ITEMS;
#pragma unroll
  for (uint r = 0; r < 8; ++r) {
    const float2 found = (float2)(of_item(z[15 - r].x, other), of_item(z[15 - r].y, other));
    opposite[r] = j > 0 ? found : z[(16 - r) % 16];
  }
}

// Asks for samples that will be wanted soon.
static inline void ask_for(__global const float *samples) { asm volatile("prefetch.global.L2 [%0];" ::"l"((ulong)samples)); }
