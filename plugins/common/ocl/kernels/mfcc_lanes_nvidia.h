// SPDX-License-Identifier: Apache-2.0
// Exchanges numbers among the 16 work-items of a frame on NVIDIA's GPUs. NVIDIA's OpenCL has no sub-groups, but the items are
// half a warp, so PTX's shuffles move the numbers. Included by mfcc_512.cl.

// Makes the items' writes to local memory visible to all items of the warp.
static inline void frame_sync(void) { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

// Returns the value of item i of the frame.
static inline float of_item(float value, uint i) {
  uint found;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x101f, 0xffffffff;" : "=r"(found) : "r"(as_uint(value)), "r"(i));
  return as_float(found);
}

// Returns the sum over the items of the frame, in every item.
static inline float frame_sum(float value, uint j, __local float *exchange) {
#pragma unroll
  for (uint d = 1; d < ITEMS; d *= 2) value += of_item(value, j ^ d);
  return value;
}

// Finds the sample before each pair x[r]. The item before holds it; for item 0 the last item of the row above does.
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

// Sets opposite[r] to frequency 256 - k (0 for 0) of a transform, k = j + 16 r. Item j has the frequencies j, j + 16 ...
static inline void find_opposite(const float2 *z, uint j, __local float *exchange, float2 *opposite) {
  const uint other = (ITEMS - j) % ITEMS;
#pragma unroll
  for (uint r = 0; r < 8; ++r) {
    const float2 found = (float2)(of_item(z[15 - r].x, other), of_item(z[15 - r].y, other));
    opposite[r] = j > 0 ? found : z[(16 - r) % 16];
  }
}

// Prefetches samples into the L2 cache.
static inline void ask_for(__global const float *samples) { asm volatile("prefetch.global.L2 [%0];" ::"l"((ulong)samples)); }

// Number and indices of the frames whose cepstra this item stores. A warp stores 16 frames, 8 cepstra at a time.
#define OWN_FRAMES 2
static inline uint own_frame(uint k) { return get_local_id(0) / 32 % 2 * 16 + get_local_id(0) % 32 / 4 + 8 * k; }

// Splits two numbers into pairs of bf16 numbers, high and low. bf16 has the range of floats.
static inline uint2 split_brain(float2 v) {
  uint high, low;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(high) : "f"(v.y), "f"(v.x));
  const float2 rest = v - (float2)(as_float(high << 16), as_float(high & 0xffff0000u));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(low) : "f"(rest.y), "f"(rest.x));
  return (uint2)(high, low);
}

// d += a b, a 16 x 16 by rows, b 16 x 8 by columns, as mma.m16n8k16 spreads them over a warp.
#define DEFINE_MULTIPLY(name, type)                                                                                         \
  static inline void name(float *d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {                                 \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                                    \
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                                                            \
  }
DEFINE_MULTIPLY(multiply_brain, "bf16")
DEFINE_MULTIPLY(multiply_halves, "f16")

#define CHUNKS_AHEAD 4
// Computes F5 and F6 of a group's frames for this warp's tiles of a bank. `head`: a copy of the bank's head. Rows 0 ... 7 of a
// product are the high parts of 8 frames, rows 8 ... 15 their low parts. mel[tile][FRAMES][4] gets two bands each, as halves,
// high and low.
static inline void make_log_mel(__constant MfccOptions *o, __global const uint4 *bank, __local const uint4 *head,
                                __local const uint2 *power, __local uint2 *mel) {
  const uint warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
  __local const ushort *const first_tile = (__local const ushort *)(head + MEL_STEPS);
  const uint end = first_tile[warp + 1];
#pragma unroll 1
  for (uint i = first_tile[warp]; i < end; ++i) {
    const MfccTileHead tile = ((__local const MfccTileHead *)head)[i];
    __global const uint4 *weights = bank + tile.first_four + lane;
    __local const uint4 *pairs = (__local const uint4 *)power + tile.first_chunk * (CHUNK_PAIRS / 2) + lane;
    float sums[FRAMES / 8][4];
#pragma unroll
    for (uint f = 0; f < FRAMES / 8; ++f) sums[f][0] = sums[f][1] = sums[f][2] = sums[f][3] = 0;
#pragma unroll 1
    for (uint n = 0; n < tile.n_chunks; n += CHUNKS_AHEAD) {
      uint4 w[CHUNKS_AHEAD];
#pragma unroll
      for (uint k = 0; k < CHUNKS_AHEAD; ++k) {
        if (n + k < tile.n_chunks) w[k] = weights[(n + k) * 32];
      }
#pragma unroll
      for (uint k = 0; k < CHUNKS_AHEAD; ++k) {
        if (n + k < tile.n_chunks) {
#pragma unroll
          for (uint f = 0; f < FRAMES / 8; ++f) {
            const uint4 a = pairs[(n + k) * (CHUNK_PAIRS / 2) + f * 32];
            multiply_brain(sums[f], a.x, a.y, a.z, a.w, w[k].z, w[k].w);
            multiply_brain(sums[f], a.x, a.y, a.z, a.w, w[k].x, w[k].y);
          }
        }
      }
    }
#pragma unroll
    for (uint f = 0; f < FRAMES / 8; ++f) {
      uint high, low;
      const float2 energy = (float2)(sums[f][0] + sums[f][2], sums[f][1] + sums[f][3]);
      split((float2)(logarithm_of_band(o, energy.x), logarithm_of_band(o, energy.y)), &high, &low);
      mel[i * FRAMES * 4 + f * 32 + lane] = (uint2)(high, low);
    }
  }
}

// Computes F7 of 16 frames from halves of both factors, to 2^-22 of the product. A product's rows are those of make_log_mel.
// Warps 0 and 1 have the first 8 cepstra, warps 2 and 3 the next 8, and so on.
static inline void make_cepstra(__constant MfccOptions *o, __global const uint4 *dct, __local const float *energy,
                                __local const uint2 *mel, __global float *const *to) {
  const uint warp = get_local_id(0) / 32, lane = get_local_id(0) % 32;
#pragma unroll 1
  for (uint tile = warp / 2; tile < CEPSTRA_TILES; tile += PARTS / 2) {
    __local const uint2 *at = mel + warp % 2 * 64 + lane;
    float sums[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
    for (uint step = 0; step < MEL_STEPS; ++step, at += 2 * FRAMES * 4) {
      const uint4 b = dct[(tile * MEL_STEPS + step) * 32 + lane];
#pragma unroll
      for (uint f = 0; f < 2; ++f) {
        const uint2 low_bands = at[f * 32], high_bands = at[FRAMES * 4 + f * 32];
        multiply_halves(sums[f], low_bands.x, low_bands.y, high_bands.x, high_bands.y, b.z, b.w);
        multiply_halves(sums[f], low_bands.x, low_bands.y, high_bands.x, high_bands.y, b.x, b.y);
      }
    }
    const uint i = tile * 8 + lane % 4 * 2;
#pragma unroll
    for (uint f = 0; f < 2; ++f) {
      store_cepstrum(o, energy, own_frame(f), i, sums[f][0] + sums[f][2], to[f]);
      store_cepstrum(o, energy, own_frame(f), i + 1, sums[f][1] + sums[f][3], to[f]);
    }
  }
}
