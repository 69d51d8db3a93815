// SPDX-License-Identifier: Apache-2.0
// Takes frames from samples to the spectrum, F1 to F3, sixteen items a frame: the first half of mfcc_512.cl, which describes
// it.

// Loads F1: x[r] are samples 2 (j + 16 r) and the next; zero beyond the window.
static inline void load_samples(__constant MfccOptions *o, __global const float2 *pairs, uint j, float2 *x) {
#pragma unroll
  for (uint r = 0; r < 16; ++r) {
    const uint n = 2 * (j + ITEMS * r);
    x[r] = (float2)(0);
    if (n < WINDOW_SAMPLES) x[r] = pairs[j + ITEMS * r];
    if (n + 1 >= WINDOW_SAMPLES) x[r].y = 0;
  }
}

// Returns the mean to subtract from pre-emphasised samples before the window. It is the samples' mean as it leaves
// pre-emphasis, or the mean after pre-emphasis, which follows from the samples' sum.
static inline float mean_to_remove(__constant MfccOptions *o, __global const float *samples, float before, float total) {
  if (DC_REMOVAL == DC_BEFORE) return total * PER_SAMPLE * (1 - o->preemphasis);
  return (total - o->preemphasis * (total - samples[WINDOW_SAMPLES - 1] + before)) * PER_SAMPLE;
}

// Computes F2 in place. The window is halved and so supplies the factors 1/2 of F3. Returns the energy if it is wanted.
static inline float make_frame(__constant MfccOptions *o, __local const float2 *window, __global const float *samples, uint j,
                               __local float *exchange, float2 *x) {
  const float before = samples[o->preemphasis_in_frame ? 0 : -1];
  float mean = 0, raw_mean = 0, energy = 0, previous[16];
  if (DC_REMOVAL != 0) {
    float total = 0;
#pragma unroll
    for (uint r = 0; r < 16; ++r) total += x[r].x + x[r].y;
    total = frame_sum(total, j, exchange);
    mean = mean_to_remove(o, samples, before, total);
    raw_mean = DC_REMOVAL == DC_BEFORE ? total * PER_SAMPLE : 0;
  }
  if (ENERGY == ENERGY_RAW) {
#pragma unroll
    for (uint r = 0; r < 16; ++r) {
      const uint n = 2 * (j + ITEMS * r);
      const float a = n < WINDOW_SAMPLES ? x[r].x - raw_mean : 0, b = n + 1 < WINDOW_SAMPLES ? x[r].y - raw_mean : 0;
      energy += a * a + b * b;
    }
  }
  find_previous(o, x, before, j, exchange, previous);
#pragma unroll
  for (uint r = 0; r < 16; ++r) {
    if (r >= N_ROWS) break;
    const float2 w = window[j + ITEMS * r];
    x[r] = (float2)((x[r].x - o->preemphasis * previous[r] - mean) * w.x, (x[r].y - o->preemphasis * x[r].x - mean) * w.y);
    if (ENERGY == ENERGY_WINDOWED) energy += 4 * (x[r].x * x[r].x + x[r].y * x[r].y);
  }
  return ENERGY != 0 ? frame_sum(energy, j, exchange) : 0;
}

// Transforms a frame's 256 complex numbers: x[r] of item j goes from number j + 16 r to frequency j + 16 r.
static inline void fourier_transform(__constant MfccOptions *o, const float2 *twiddles, uint j, __local float *exchange,
                                     float2 *x) {
  transform_first_of_16(x, N_ROWS);
#pragma unroll
  for (uint r = 1; r < 16; ++r) x[r] = times(x[r], twiddles[r]);
#pragma unroll
  for (uint r = 0; r < 16; ++r) exchange[r * ROW + j] = x[r].x;
  frame_sync();
#pragma unroll
  for (uint r = 0; r < 16; ++r) x[r].x = exchange[j * ROW + r];
  frame_sync();
#pragma unroll
  for (uint r = 0; r < 16; ++r) exchange[r * ROW + j] = x[r].y;
  frame_sync();
#pragma unroll
  for (uint r = 0; r < 16; ++r) x[r].y = exchange[j * ROW + r];
  frame_sync();
  transform_16(x);
}

// Computes F3 from the transform Z. Even and odd samples have the transforms E = (Z[k] + conj Z[256-k]) / 2 and O = (Z[k] -
// conj Z[256-k]) / 2i, and the frame X[k] = E + w^k O, X[256-k] = conj(E - w^k O). The factors 1/2 are in Z already. The pairs
// of a frame go to power[chunk * CHUNK_PAIRS + pair].
static inline void make_spectrum(__constant MfccOptions *o, __local const float2 *twiddles, uint j, __local float *exchange,
                                 const float2 *z, __local uint2 *power) {
  float2 opposite[8];
  float own[16];
  find_opposite(z, j, exchange, opposite);
#pragma unroll
  for (uint r = 0; r < 8; ++r) {
    const float2 a = z[r], b = opposite[r], even = (float2)(a.x + b.x, a.y - b.y), odd = (float2)(a.y + b.y, b.x - a.x);
    const float2 powers = powers_of_pair(even, odd, twiddles[j + ITEMS * r]);
    own[r] = powers.x, own[15 - r] = powers.y;
  }
  // Upper half: own[row] is bin 16 - j of row `row` of 16 bins. Item 0 made bin 0 of the row above it, so its values move up.
#pragma unroll
  for (uint row = 15; row > 8; --row) own[row] = j == 0 ? own[row - 1] : own[row];
  if (j == 0) own[8] = 4 * power_of(z[8]);
  const uint upper = (ITEMS - j) % ITEMS;
#pragma unroll
  for (uint r = 0; r < 16; r += 2) {
    const uint place = r < 8 ? j : upper;
    const float2 pair = (float2)(own[r], own[r + 1]);
    power[(r + place / 8) * CHUNK_PAIRS + place % 8] =
        split_brain(MAGNITUDE ? (float2)(fast_sqrt(pair.x), fast_sqrt(pair.y)) : pair);
  }
}
