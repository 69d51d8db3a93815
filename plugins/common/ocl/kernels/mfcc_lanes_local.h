// SPDX-License-Identifier: Apache-2.0
// What the 16 work-items of a frame tell each other where they have nothing in common but local memory: `exchange`, rows of 16
// numbers and one of padding. All work-items of the group come here together. Included by mfcc_512.cl.

// What they wrote into local memory is seen by all of them.
static inline void frame_sync(void) { barrier(CLK_LOCAL_MEM_FENCE); }

// The sum over the items, for all of them.
static inline float frame_sum(float value, uint j, __local float *exchange) {
  float sum = 0;
  exchange[j] = value;
  frame_sync();
  for (uint i = 0; i < ITEMS; ++i) sum += exchange[i];
  frame_sync();
  return sum;
}

// The sample before each pair x[r]: the item before has it, or, for item 0, the last item in the row above.
static inline void find_previous(__constant MfccOptions *o, const float2 *x, float before, uint j, __local float *exchange,
                                 float *previous) {
  for (uint r = 0; r < N_ROWS; ++r) exchange[r * ROW + j] = x[r].y;
  frame_sync();
  for (uint r = 0; r < N_ROWS; ++r) {
    previous[r] = j > 0 ? exchange[r * ROW + j - 1] : r > 0 ? exchange[(r - 1) * ROW + ITEMS - 1] : before;
  }
  frame_sync();
}

// opposite[r]: frequency 256 - k (0 for 0), k = j + 16 r, of a transform whose frequencies j, j + 16 ... item j has.
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

// Asks for samples that will be wanted soon.
static inline void ask_for(__global const float *samples) {}

// Frames whose cepstra this item stores.
#define OWN_FRAMES 1
static inline uint own_frame(uint k) { return get_local_id(0) % FRAMES; }

// The cosine transform.
typedef struct OwnDct {
  __global const float4 *tiles;
} OwnDct;
static inline void load_dct(__constant MfccOptions *o, __global const float4 *dct, OwnDct *own) { own->tiles = dct; }

// F7 of this item's frame; of the cosine transform, as it is for tensor cores, the parts of a number are added.
static inline void make_cepstra(__constant MfccOptions *o, const OwnDct *dct, __local const float *energy,
                                __local const float *mel, __global float *const *to) {
  for (uint i = get_local_id(0) / FRAMES; i < N_CEPS; i += PARTS) {
    __global const float4 *const row = dct->tiles + i / 8 * MEL_STEPS * 32 + i % 8 * 4;
    float sum = 0;
    for (uint m = 0; m < N_MEL; ++m) {
      const float4 w = row[m / 8 * 32 + m % 4];
      sum += (m % 8 < 4 ? w.x + w.z : w.y + w.w) * mel[m * MEL_PITCH + own_frame(0)];
    }
    store_cepstrum(o, energy, own_frame(0), i, sum, to[0]);
  }
}
