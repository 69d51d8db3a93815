// SPDX-License-Identifier: Apache-2.0
// Transforms the frames of a work-group, N_POINTS complex numbers each: rows[e][frame] in local memory, 16 of them in the
// registers of an item. Included by mfcc.cl, which defines the sizes.

// Makes radix-16 passes over blocks of `length`, whose 16 points in an item are `part` apart. One pass of radix 2, 4 or
// 8 follows if needed. The first pass takes its points from x.
static inline void fourier_transform(__global const float2 *twiddles, __local float2 *rows, float2 *x) {
  const uint f = get_local_id(0) % FRAMES, u = get_local_id(0) / FRAMES;
  __local float2 *first = rows + u * FRAMES + f;
  uint length = N_POINTS, part = N_POINTS / 16, j = u;
#pragma unroll
  for (uint level = 0; level < 3; ++level) {
    if (length >= 16) {
      transform_16(x);
#pragma unroll
      for (uint r = 0; r < 16; ++r) {
        first[r * part * FRAMES] = length > 16 && r > 0 ? times(x[r], twiddles[j * 16 + r]) : x[r];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      if (length > 16) {  // the next points: of a block of `part`, or, where that is less than 16, of 16 / part blocks
        twiddles += length;
        length = part;
        part = length / 16;
        if (part > 0) {
          j = u % part;
          first = rows + (u / part * length + j) * FRAMES + f;
#pragma unroll
          for (uint r = 0; r < 16; ++r) x[r] = first[r * part * FRAMES];
        }
      } else {
        length = 0;
      }
    }
  }
  if (length > 1) {
    first = rows + u * 16 * FRAMES + f;
#pragma unroll
    for (uint r = 0; r < 16; ++r) x[r] = first[r * FRAMES];
#pragma unroll
    for (uint r = 0; r < 16; r += 2) {
      if (length == 2) transform_2(&x[r]);
      if (length == 4 && r % 4 == 0) transform_4(&x[r], &x[r + 1], &x[r + 2], &x[r + 3]);
      if (length == 8 && r % 8 == 0) transform_8(&x[r]);
    }
#pragma unroll
    for (uint r = 0; r < 16; ++r) first[r * FRAMES] = x[r];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Returns the offset of frequency k in the output. A pass sends frequencies with k mod 16 = r to part r of its block; the last
// pass leaves them in order.
static inline uint position_of(uint k) {
  uint position = 0, length = N_POINTS;
#pragma unroll
  for (uint level = 0; level < 3; ++level) {
    if (length > 16) {
      position += k % 16 * (length / 16);
      k /= 16;
      length /= 16;
    }
  }
  return position + k;
}

// Returns the offset of frequency n - k, for k = u + i UNITS.
static inline uint mirrored_position(uint u, uint i) {
#if N_POINTS == 256
  if (i == 0 && u == 0) return 0;
  return (u == 0 ? 16 : (16 - u) * 16 + 15) - i;
#else
  return position_of((N_POINTS - u - i * UNITS) % N_POINTS);
#endif
}
