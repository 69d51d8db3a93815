// SPDX-License-Identifier: Apache-2.0
// Exchanges numbers among the 16 work-items of a frame through local memory alone. `exchange` has rows of 16 numbers and one of
// padding. All work-items of the group must call these functions together. Included by mfcc_512.cl.

// Makes the items' writes to local memory visible to all items.
static inline void frame_sync(void) { barrier(CLK_LOCAL_MEM_FENCE); }

// Returns the sum over the items of the frame, in every item.
static inline float frame_sum(float value, uint j, __local float *exchange) {
  float sum = 0;
  exchange[j] = value;
  frame_sync();
  for (uint i = 0; i < ITEMS; ++i) sum += exchange[i];
  frame_sync();
  return sum;
}

// Finds the sample before each pair x[r]. The item before holds it; for item 0 the last item of the row above does.
static inline void find_previous(__constant MfccOptions *o, const float2 *x, float before, uint j, __local float *exchange,
                                 float *previous) {
  for (uint r = 0; r < N_ROWS; ++r) exchange[r * ROW + j] = x[r].y;
  frame_sync();
  for (uint r = 0; r < N_ROWS; ++r) {
    previous[r] = j > 0 ? exchange[r * ROW + j - 1] : r > 0 ? exchange[(r - 1) * ROW + ITEMS - 1] : before;
  }
  frame_sync();
}

// Sets opposite[r] to frequency 256 - k (0 for 0) of a transform, k = j + 16 r. Item j has the frequencies j, j + 16 ...
static inline void find_opposite(const float2 *z, uint j, __local float *exchange, float2 *opposite) {
  for (uint part = 0; part < 2; ++part) {
    for (uint r = 0; r < 16; ++r) exchange[r * ROW + j] = part == 0 ? z[r].x : z[r].y;
    frame_sync();
    for (uint r = 0; r < 8; ++r) {
      const uint k = (POINTS - j - r * ITEMS) % POINTS;
      const float found = exchange[k / ITEMS * ROW + k % ITEMS];
      if (part == 0) opposite[r].x = found;
      if (part == 1) opposite[r].y = found;
    }
    frame_sync();
  }
}

// Prefetches nothing: this header serves tests on CPUs.
static inline void ask_for(__global const float *samples) {}

// Returns the bits of the nearest bf16 number. split_brain splits two numbers into pairs of these, high and low.
static inline uint brain_bits(float v) { return (as_uint(v) + 0x8000u) >> 16; }
static inline float brain_value(uint pair, uint i) { return as_float((i == 0 ? pair << 16 : pair & 0xffff0000u)); }
static inline uint2 split_brain(float2 v) {
  const uint high = brain_bits(v.x) | brain_bits(v.y) << 16;
  return (uint2)(high, brain_bits(v.x - brain_value(high, 0)) | brain_bits(v.y - brain_value(high, 1)) << 16);
}

// Computes F5 and F6 of this item's frame, for its part of a bank's tiles. `head`: a copy of the bank's head. High and low
// parts are added before they are multiplied. mel[band][FRAMES] gets the results.
static inline void make_log_mel(__constant MfccOptions *o, __global const uint4 *bank, __local const uint4 *head,
                                __local const uint2 *power, __local uint2 *mel) {
  const uint frame = get_local_id(0) % FRAMES, part = get_local_id(0) / FRAMES;
  __local const ushort *const first_tile = (__local const ushort *)(head + MEL_STEPS);
  const uint end = first_tile[part + 1];
  for (uint i = first_tile[part]; i < end; ++i) {
    const MfccTileHead tile = ((__local const MfccTileHead *)head)[i];
    for (uint g = 0; g < 8; ++g) {
      float sum = 0;
      for (uint n = 0; n < tile.n_chunks; ++n) {
        for (uint pair = 0; pair < 8; ++pair) {
          const uint4 four = bank[tile.first_four + n * 32 + g * 4 + pair / 2];
          const uint2 w = pair % 2 == 0 ? four.even : four.odd;
          const uint2 p = power[(tile.first_chunk + n) * CHUNK_PAIRS + frame * 8 + pair];
          for (uint k = 0; k < 2; ++k) {
            sum += (brain_value(p.x, k) + brain_value(p.y, k)) * (brain_value(w.x, k) + brain_value(w.y, k));
          }
        }
      }
      ((__local float *)mel)[(i * 8 + g) * FRAMES + frame] = logarithm_of_band(o, sum);
    }
  }
}

// Number and index of the frames whose cepstra this item stores.
#define OWN_FRAMES 1
static inline uint own_frame(uint k) { return get_local_id(0) % FRAMES; }

// Returns the number for cepstrum i and band m of a cosine transform that is packed for tensor cores.
static inline float dct_value(__constant MfccOptions *o, __global const uint4 *dct, uint i, uint m) {
  const uint4 four = dct[(i / 8 * MEL_STEPS + m / 16) * 32 + i % 8 * 4 + m % 8 / 2];
  const uint high = m % 16 < 8 ? four.x : four.y, low = m % 16 < 8 ? four.z : four.w, shift = m % 2 * 16;
  return half_value(high >> shift & 0xffffu) + half_value(low >> shift & 0xffffu);
}

// Computes F7 of this item's frame.
static inline void make_cepstra(__constant MfccOptions *o, __global const uint4 *dct, __local const float *energy,
                                __local const uint2 *mel, __global float *const *to) {
  for (uint i = get_local_id(0) / FRAMES; i < N_CEPS; i += PARTS) {
    float sum = 0;
    for (uint m = 0; m < N_MEL; ++m) sum += dct_value(o, dct, i, m) * ((__local const float *)mel)[m * FRAMES + own_frame(0)];
    store_cepstrum(o, energy, own_frame(0), i, sum, to[0]);
  }
}
