// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md in one kernel, in float; double reference reference/mfcc.cc, tolerance 1e-3 of a
// cepstrum.
//
// A work-group owns FRAMES frames, whose transforms have 16 points a work item. An item's frame is its
// number modulo FRAMES, so FRAMES successive items share twiddles, windows, weights and the cosine transform. Local memory
// holds these arrays in turn, each over the one before:
//   samples           as they come, each once, though frames overlap; at the end sums of the items
//   rows[e][frame]    complex numbers, transformed in place: radix-16 passes, then one of 2 to 16. The first takes the frame
//                     from the samples: pre-emphasis and window cost no pass of their own
//   power[k][frame], mel[m][frame], cepstra[frame][i]; the last two once for each job that wants the frame: many VTLN factors
//                     share what comes before (Kou et al. 2013)
// Floor: samples read and cepstra written once; 1,000 instructions an item for 1/16 frame.
//   -D N_POINTS=... (complex numbers of a transform) FRAMES=... DITHER=0 or 1, LOCAL_FLOATS=...; groups of N_POINTS * FRAMES /
//   16
#include "plugins/common/dither-inl.h"
#include "plugins/ocl/features/mfcc_stages.clh"

#define GROUP_SIZE (N_POINTS * FRAMES / 16)
#define UNITS (N_POINTS / 16)  // items of a frame
#define PADDING (1 - SHIFT_SAMPLES % 2)
#define N_MEL_FOURS ((N_MEL + 3) / 4)

#include "plugins/ocl/features/mfcc_transform.clh"

// Frame has the samples of an item's frame in local memory, and the frame's number, which seeds the dither.
typedef struct Frame {
  __local const float *samples;  // sample 0
  ulong number;
} Frame;

// Copies a segment's samples to local memory, with PADDING floats after the sample before the first and after each shift. A
// zero follows the last sample.
static inline void load_samples(__constant MfccOptions *o, const MfccSegment *segment, __global const float *samples,
                                __local float *local_samples) {
  const uint n = (segment->n_frames - 1) * SHIFT_SAMPLES + WINDOW_SAMPLES, row_items = min(32u, (uint)GROUP_SIZE);
  __global const float *const from = samples + segment->first_sample;
  __local float *const to = local_samples + segment->first_local + 1 + PADDING;
  if (get_local_id(0) == 0) {
    to[-1 - (int)PADDING] = from[-1];
    to[n + n / SHIFT_SAMPLES * PADDING] = 0;
  }
  for (uint row = get_local_id(0) / row_items; row * SHIFT_SAMPLES < n; row += GROUP_SIZE / row_items) {
    const uint first = row * SHIFT_SAMPLES, n_row = min((uint)SHIFT_SAMPLES, n - first);
#pragma unroll 8
    for (uint i = get_local_id(0) % row_items; i < n_row; i += row_items) to[first + i + row * PADDING] = from[first + i];
  }
}

// Returns x[n] of F1, which is at offset `at`.
static inline float sample_at(__constant MfccOptions *o, const Frame *frame, int n, int at) {
#if DITHER
  return n < 0 ? frame->samples[at] : frame->samples[at] + o->dither * dither_noise(o->dither_seed, frame->number, n);
#else
  return frame->samples[at];
#endif
}

// Returns the sum over the items of a frame, in every item.
static inline float sum_of_frame(float value, __local float *sums) {
  const uint f = get_local_id(0) % FRAMES;
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[get_local_id(0)] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (uint u = 0; u < UNITS; ++u) sum += sums[u * FRAMES + f];
  return sum;
}

// Returns the mean to subtract: that of the samples as it leaves pre-emphasis, or that of the pre-emphasised samples, which
// follows from the samples' sum.
static inline float mean_to_remove(__constant MfccOptions *o, __global const MfccPair *pairs, const Frame *frame, float total) {
  if (DC_REMOVAL == DC_BEFORE) return total / WINDOW_SAMPLES * (1 - o->preemphasis);
  const int last = WINDOW_SAMPLES - 1;
  const float first = sample_at(o, frame, o->preemphasis_in_frame ? 0 : -1, pairs[0].before);
  const float rest = total - sample_at(o, frame, last, pairs[last / 2].at + last % 2);
  return (total - o->preemphasis * (rest + first)) / WINDOW_SAMPLES;
}

// Returns this item's share of the energy before the window, of the samples less their mean if that is removed from them.
static inline float raw_energy(__constant MfccOptions *o, __global const MfccPair *pairs, const Frame *frame, float total) {
  const float mean = DC_REMOVAL == DC_BEFORE ? total / WINDOW_SAMPLES : 0;
  float energy = 0;
  for (uint e = get_local_id(0) / FRAMES; 2 * e < WINDOW_SAMPLES; e += UNITS) {
    const int n = 2 * e, at = pairs[e].at;
    const float x0 = sample_at(o, frame, n, at) - mean, x1 = sample_at(o, frame, n + 1, at + 1) - mean;
    energy += n + 1 < (int)WINDOW_SAMPLES ? x0 * x0 + x1 * x1 : x0 * x0;
  }
  return energy;
}

// Computes F2: complex number e = u + r UNITS of the frame, from samples 2 e and 2 e + 1, into x[r]. Returns the energy. A mean
// m that is removed before pre-emphasis leaves it as (1 - a) m.
static inline float make_frame(__constant MfccOptions *o, __global const MfccPair *pairs, const Frame *frame,
                               __local float *sums, float2 *x) {
  const uint u = get_local_id(0) / FRAMES;
  float total = 0, energy = 0;
#pragma unroll
  for (uint r = 0; r < 16; ++r) {
    x[r] = (float2)(0);
    if (2 * r * UNITS >= WINDOW_SAMPLES) continue;
    const MfccPair pair = pairs[u + r * UNITS];
    const int n = 2 * (u + r * UNITS);
    const float x0 = sample_at(o, frame, n, pair.at), x1 = sample_at(o, frame, n + 1, pair.at + 1);
    const float before = sample_at(o, frame, n == 0 && o->preemphasis_in_frame ? 0 : n - 1, pair.before);
    x[r] = (float2)(x0 - o->preemphasis * before, x1 - o->preemphasis * x0);
    if (DC_REMOVAL == 0) x[r] *= (float2)(pair.window[0], pair.window[1]);
    if (n < (int)WINDOW_SAMPLES) total += x0;
    if (n + 1 < (int)WINDOW_SAMPLES) total += x1;
  }
  if (DC_REMOVAL != 0) {
    total = sum_of_frame(total, sums);
    const float mean = mean_to_remove(o, pairs, frame, total);
#pragma unroll
    for (uint r = 0; r < 16; ++r) {
      if (2 * r * UNITS >= WINDOW_SAMPLES) continue;
      __global const float *const window = pairs[u + r * UNITS].window;
      x[r] = (x[r] - mean) * (float2)(window[0], window[1]);
    }
  }
  if (ENERGY == 0) return 0;
  if (ENERGY == ENERGY_RAW) {
    energy = raw_energy(o, pairs, frame, total);
  } else {
#pragma unroll
    for (uint r = 0; r < 16; ++r) energy += x[r].x * x[r].x + x[r].y * x[r].y;
  }
  return sum_of_frame(energy, sums);
}

// Computes F3 from the transform Z of n = N_POINTS complex numbers. Even and odd samples have the transforms E = (Z[k] + conj
// Z[n-k]) / 2 and O = (Z[k] - conj Z[n-k]) / 2i, and the frame X[k] = E + w^k O, X[n-k] = conj(E - w^k O). All pairs are in
// registers before the first is stored.
static inline void make_spectrum(__constant MfccOptions *o, __global const float2 *twiddles, __local const float2 *rows,
                                 __local float *power) {
  const uint f = get_local_id(0) % FRAMES, u = get_local_id(0) / FRAMES, n = N_POINTS;
  float low[8], high[8];
#pragma unroll
  for (uint i = 0; i < 8; ++i) {
    const uint k = u + i * UNITS;
    const float2 a = rows[position_of(k) * FRAMES + f], b = rows[mirrored_position(u, i) * FRAMES + f];
    const float2 even = 0.5f * (float2)(a.x + b.x, a.y - b.y), odd = 0.5f * (float2)(a.y + b.y, b.x - a.x);
    const float2 powers = powers_of_pair(even, odd, twiddles[k]);
    low[i] = powers.x, high[i] = powers.y;
  }
  const float middle = power_of(rows[position_of(n / 2) * FRAMES + f]);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint i = 0; i < 8; ++i) {
    const uint k = u + i * UNITS;
    power[k * FRAMES + f] = MAGNITUDE ? fast_sqrt(low[i]) : low[i];
    power[(n - k) * FRAMES + f] = MAGNITUDE ? fast_sqrt(high[i]) : high[i];
  }
  if (u == 0) {
    power[n / 2 * FRAMES + f] = MAGNITUDE ? fast_sqrt(middle) : middle;
    for (uint k = n + 1; k < n + 4; ++k) power[k * FRAMES + f] = 0;  // under a band's last zero weights
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Computes F5 and F6 under a filter bank, with zeros up to a multiple of 4 bands.
static inline void make_log_mel(__constant MfccOptions *o, __global const MfccBand *bands, __global const float4 *weights,
                                __local const float *power, __local float *mel) {
  const uint f = get_local_id(0) % FRAMES;
  for (uint m = get_local_id(0) / FRAMES; m < 4 * N_MEL_FOURS; m += UNITS) {
    float value = 0;
    if (m < N_MEL) {
      const MfccBand band = bands[m];
      __local const float *bin = power + band.first_bin * FRAMES + f;
      float2 sum = (float2)(0);
#pragma unroll 2
      for (uint i = 0; i < band.n_fours; ++i, bin += 4 * FRAMES) {
        const float4 w = weights[band.first_four + i];
        sum += w.lo * (float2)(bin[0], bin[FRAMES]);
        sum += w.hi * (float2)(bin[2 * FRAMES], bin[3 * FRAMES]);
      }
      value = log_of_band(sum.x + sum.y, o->log_floor, o->log_add);
    }
    mel[m * FRAMES + f] = value;
  }
}

// Computes F7 and F8 into cepstra[frame][i], the layout of the output.
static inline void make_cepstra(__constant MfccOptions *o, __global const float4 *dct, float energy, __local const float *mel,
                                __local float *cepstra) {
  const uint f = get_local_id(0) % FRAMES;
  for (uint i = get_local_id(0) / FRAMES; i < N_CEPS; i += UNITS) {
    float2 sum = (float2)(0);
#pragma unroll 4
    for (uint four = 0; four < N_MEL_FOURS; ++four) {
      const float4 w = dct[i * N_MEL_FOURS + four];
      __local const float *const m = mel + 4 * four * FRAMES + f;
      sum += w.lo * (float2)(m[0], m[FRAMES]);
      sum += w.hi * (float2)(m[2 * FRAMES], m[3 * FRAMES]);
    }
    cepstra[f * N_CEPS + i] = ENERGY != 0 && (int)i == o->energy_row ? log_of_energy(energy, o->log_floor) : sum.x + sum.y;
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void mfcc(
    __constant MfccOptions *o, __global const MfccPair *restrict pairs, __global const float2 *restrict twiddles,
    __global const float2 *restrict real_twiddles, __global const MfccBand *restrict bands,
    __global const float4 *restrict weights, __global const float4 *restrict dct, __global const MfccGroup *restrict groups,
    __global const MfccSegment *restrict segments, __global const MfccOutput *restrict outputs,
    __global const float *restrict samples, __global float *restrict cepstra) {
  __local float2 rows[LOCAL_FLOATS / 2];
  __local float *const memory = (__local float *)rows, *const sums = memory + LOCAL_FLOATS - GROUP_SIZE;
  const MfccGroup group = groups[get_group_id(0)];
  for (uint s = 0; s < group.n_segments; ++s) {
    const MfccSegment segment = segments[group.first_segment + s];
    load_samples(o, &segment, samples, memory);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint lane = min((uint)get_local_id(0) % FRAMES, group.n_lanes - 1);
  const MfccSegment own = segments[segment_of(segments, group, lane)];
  const uint in_segment = lane - own.first_lane;
  const Frame frame = {memory + own.first_local + 1 + PADDING + in_segment * (SHIFT_SAMPLES + PADDING),
                       own.number + in_segment};
  float2 x[16];
  const float energy = make_frame(o, pairs, &frame, sums, x);
  barrier(CLK_LOCAL_MEM_FENCE);
  fourier_transform(twiddles, rows, x);
  make_spectrum(o, real_twiddles, rows, memory);

  __local float *const mel = memory + (N_POINTS + 4) * FRAMES, *const local_cepstra = mel + 4 * N_MEL_FOURS * FRAMES;
  const uint stored = get_local_id(0) / UNITS;  // the frame that this item stores
  const MfccSegment to = segments[segment_of(segments, group, min(stored, group.n_lanes - 1))];
  for (uint i = 0; i < group.n_outputs; ++i) {
    const uint warp = outputs[own.first_output + min(i, own.n_outputs - 1)].warp;
    make_log_mel(o, bands + warp * N_MEL, weights, memory, mel);
    barrier(CLK_LOCAL_MEM_FENCE);
    make_cepstra(o, dct, energy, mel, local_cepstra);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (stored < group.n_lanes && i < to.n_outputs) {
      __global float *const out =
          cepstra + outputs[to.first_output + i].first_value + (ulong)(to.row + stored - to.first_lane) * N_CEPS;
      for (uint c = get_local_id(0) % UNITS; c < N_CEPS; c += UNITS) out[c] = local_cepstra[stored * N_CEPS + c];
    }
  }
}
