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

// Frames whose cepstra this item stores: a warp has 16 of them, and 8 cepstra at a time.
#define OWN_FRAMES 2
static inline uint own_frame(uint k) { return get_local_id(0) / 32 % 2 * 16 + get_local_id(0) % 32 / 4 + 8 * k; }

// d += a b, a 16 x 8 by rows, b 8 x 8 by columns, as mma.m16n8k8 spreads them over a warp; of factors the upper 19 bits count.
static inline void multiply(float *d, const float *a, float b0, float b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(as_uint(a[0])), "r"(as_uint(a[1])), "r"(as_uint(a[2])), "r"(as_uint(a[3])), "r"(as_uint(b0)), "r"(as_uint(b1)));
}

// Of the cosine transform, the tiles of a warp: warps 0 and 1 have the first 8 cepstra, 2 and 3 the next 8, and so on.
#define OWN_TILES ((CEPSTRA_TILES + PARTS / 2 - 1) / (PARTS / 2))
typedef struct OwnDct {
  float4 steps[OWN_TILES][MEL_STEPS];
} OwnDct;
static inline uint own_tile(uint i) { return get_local_id(0) / 64 + i * (PARTS / 2); }
static inline void load_dct(__constant MfccOptions *o, __global const float4 *dct, OwnDct *own) {
#pragma unroll
  for (uint i = 0; i < OWN_TILES; ++i) {
#pragma unroll
    for (uint step = 0; step < MEL_STEPS; ++step) {
      if (own_tile(i) < CEPSTRA_TILES) own->steps[i][step] = dct[(own_tile(i) * MEL_STEPS + step) * 32 + get_local_id(0) % 32];
    }
  }
}

// F7 of 16 frames: numbers in two parts, the product to 2^-20 of itself.
static inline void make_cepstra(__constant MfccOptions *o, const OwnDct *dct, __local const float *energy,
                                __local const float *mel, __global float *const *to) {
  const uint warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
#pragma unroll
  for (uint tile = 0; tile < OWN_TILES; ++tile) {
    if (own_tile(tile) >= CEPSTRA_TILES) break;
    __local const float *at = mel + lane % 4 * MEL_PITCH + warp % 2 * 16 + lane / 4;
    float sum[4] = {0, 0, 0, 0};
#pragma unroll
    for (uint step = 0; step < MEL_STEPS; ++step, at += 8 * MEL_PITCH) {
      const float4 b = dct->steps[tile][step];
      float high[4], low[4];
#pragma unroll
      for (uint i = 0; i < 4; ++i) {  // frames 0, 8; bands 0, 4
        const float value = at[i % 2 * 8 + i / 2 * 4 * MEL_PITCH];
        high[i] = as_float(as_uint(value) & 0xffffe000u);
        low[i] = value - high[i];
      }
      multiply(sum, high, b.z, b.w);
      multiply(sum, low, b.x, b.y);
      multiply(sum, high, b.x, b.y);
    }
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      store_cepstrum(o, energy, own_frame(i / 2), own_tile(tile) * 8 + lane % 4 * 2 + i % 2, sum[i], to[i / 2]);
    }
  }
}
