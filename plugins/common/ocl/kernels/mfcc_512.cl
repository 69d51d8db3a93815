// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md in one kernel, in float, for windows of 257 to 512 samples, such as 25 ms at 16 kHz; double
// reference tests/reference/mfcc.cc, tolerance 1e-3 of a cepstrum.
//
// A work-group of 128 owns 32 frames, of any jobs, and takes one group of frames after the other. Sixteen items take a frame
// from samples to its spectrum in registers: item j has the pairs of samples j, j + 16, j + 32 ... as complex numbers, 16 of
// the 256. Two transforms of 16, with one exchange through local memory between them, leave item j the frequencies j, j + 16
// ...; those that the real spectrum needs together (k and 256 - k) are in items j and 16 - j. The spectrum goes to local memory
// as rows of frames; from there an item has one frame, and weights are the same for 32 neighbours. Many VTLN factors share all
// before the filter bank (paper 004).
//   power[k][32 frames], pitch 34   no access meets a bank conflict
//   exchange[16][17] a frame        real and imaginary parts in turn, so that all fits 48 KiB
//   mel[m][32], cepstra[frame][i]   later, over exchange
// Floor: samples read and cepstra written once; 450 instructions of a warp a frame for the spectrum.
//   -D NVIDIA=1: half a warp is a frame's items, which need no local memory to tell each other single numbers
//   -D WORK_FLOATS=...: of exchange, or of what lies over it
#define POINTS 256u
#define ITEMS 16u  // of a frame
#define FRAMES 32u
#define GROUP_SIZE 128
#define PITCH 34u
#define ROW 17u  // of exchange
#define EXCHANGE (ITEMS * ROW)
#define PARTS (GROUP_SIZE / FRAMES)  // items of a frame after the spectrum
#define N_ROWS ((WINDOW_SAMPLES + 31) / 32)
#define CEPSTRA_PITCH (N_CEPS | 1)

#include "plugins/common/ocl/kernels/mfcc_stages.h"
#if NVIDIA
#include "plugins/common/ocl/kernels/mfcc_lanes_nvidia.h"
#else
#include "plugins/common/ocl/kernels/mfcc_lanes_local.h"
#endif
#include "plugins/common/ocl/kernels/fft.h"

// Where a frame comes from and goes to.
typedef struct Lane {
  ulong first_sample;
  uint row, first_output, n_outputs;  // row: of its jobs' cepstra
} Lane;

// F1: x[r] are samples 2 (j + 16 r) and the next; zero beyond the window.
static inline void load_samples(__constant MfccOptions *o, __global const float2 *pairs, uint j, float2 *x) {
#pragma unroll
  for (uint r = 0; r < 16; ++r) {
    const uint n = 2 * (j + ITEMS * r);
    x[r] = (float2)(0);
    if (n < WINDOW_SAMPLES) x[r] = pairs[j + ITEMS * r];
    if (n + 1 >= WINDOW_SAMPLES) x[r].y = 0;
  }
}

// What is subtracted before the window, of pre-emphasised samples: the mean as it leaves pre-emphasis, or the mean after it,
// which follows from the samples' sum.
static inline float mean_to_remove(__constant MfccOptions *o, __global const float *samples, float before, float total) {
  if (DC_REMOVAL == DC_BEFORE) return total / WINDOW_SAMPLES * (1 - o->preemphasis);
  return (total - o->preemphasis * (total - samples[WINDOW_SAMPLES - 1] + before)) / WINDOW_SAMPLES;
}

// F2, in place; the window is halved, which makes the spectrum's halves of sums. Returns the energy if it is wanted.
static inline float make_frame(__constant MfccOptions *o, __global const float2 *window, __global const float *samples, uint j,
                               __local float *exchange, float2 *x) {
  const float before = samples[o->preemphasis_in_frame ? 0 : -1];
  float mean = 0, raw_mean = 0, energy = 0, previous[16];
  if (DC_REMOVAL != 0) {
    float total = 0;
#pragma unroll
    for (uint r = 0; r < 16; ++r) total += x[r].x + x[r].y;
    total = frame_sum(total, j, exchange);
    mean = mean_to_remove(o, samples, before, total);
    raw_mean = DC_REMOVAL == DC_BEFORE ? total / WINDOW_SAMPLES : 0;
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

// The transform of a frame's 256 complex numbers: x[r] of item j goes from number j + 16 r to frequency j + 16 r.
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

// F3 from the transform Z: even and odd samples have the transforms E = (Z[k] + conj Z[256-k]) / 2 and O = (Z[k] - conj
// Z[256-k]) / 2i, and the frame X[k] = E + w^k O, X[256-k] = conj(E - w^k O). The halves are in Z already. Into power[k *
// PITCH].
static inline void make_spectrum(__constant MfccOptions *o, __global const float2 *twiddles, uint j, __local float *exchange,
                                 const float2 *z, __local float *power) {
  float2 opposite[8];
  find_opposite(z, j, exchange, opposite);
#pragma unroll
  for (uint r = 0; r < 8; ++r) {
    const uint k = j + ITEMS * r;
    const float2 a = z[r], b = opposite[r], even = (float2)(a.x + b.x, a.y - b.y), odd = (float2)(a.y + b.y, b.x - a.x);
    const float2 turned = times(odd, twiddles[k]), low = even + turned, high = even - turned;
    const float low_power = low.x * low.x + low.y * low.y, high_power = high.x * high.x + high.y * high.y;
    power[k * PITCH] = MAGNITUDE ? native_sqrt(low_power) : low_power;
    power[(POINTS - k) * PITCH] = MAGNITUDE ? native_sqrt(high_power) : high_power;
  }
  if (j == 0) {
    const float middle = 4 * (z[8].x * z[8].x + z[8].y * z[8].y);
    power[POINTS / 2 * PITCH] = MAGNITUDE ? native_sqrt(middle) : middle;
  }
}

// F7, F8 of this item's frame, four cepstra at a time: dct[i / 4][m]. mel[m * FRAMES] to cepstra[i].
static inline void make_cepstra(__constant MfccOptions *o, __global const float4 *dct, float energy, __local const float *mel,
                                __local float *cepstra) {
  for (uint first = get_local_id(0) / FRAMES * 4; first < N_CEPS; first += 4 * PARTS) {
    __global const float4 *const row = dct + first / 4 * N_MEL;
    float4 sum = (float4)(0);
#pragma unroll 4
    for (uint m = 0; m < N_MEL; ++m) sum += row[m] * mel[m * FRAMES];
    const float value[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      if (first + i >= N_CEPS) continue;
      const bool is_energy = ENERGY != 0 && (int)(first + i) == o->energy_row;
      cepstra[first + i] = is_energy ? native_log(fmax(energy, o->log_floor)) : value[i];
    }
  }
}

// The frames of a group.
static inline void find_lanes(__global const MfccSegment *segments, MfccGroup group, __constant MfccOptions *o,
                              __local Lane *lanes) {
  if (get_local_id(0) >= FRAMES) return;
  const uint f = min((uint)get_local_id(0), group.n_lanes - 1);
  const MfccSegment own = segments[segment_of(segments, group, f)];
  const uint in_segment = f - own.first_lane;
  const Lane lane = {own.first_sample + (ulong)in_segment * SHIFT_SAMPLES, own.row + in_segment, own.first_output,
                     own.n_outputs};
  lanes[get_local_id(0)] = lane;
}

// Asks for the samples of a group.
static inline void ask_for_group(__constant MfccOptions *o, __global const MfccSegment *segments, MfccGroup group,
                                 __global const float *samples) {
  for (uint s = group.first_segment; s < group.first_segment + group.n_segments; ++s) {
    const uint n = (segments[s].n_frames - 1) * SHIFT_SAMPLES + WINDOW_SAMPLES;
    for (uint i = get_local_id(0) * 32; i < n; i += GROUP_SIZE * 32) ask_for(samples + segments[s].first_sample + i);
  }
}

__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void mfcc_512(
    __constant MfccOptions *o, __global const float2 *restrict window, __global const float2 *restrict twiddles,
    __global const float2 *restrict real_twiddles, __global const MfccBand *restrict bands,
    __global const float4 *restrict weights, __global const float4 *restrict dct, uint n_groups,
    __global const MfccGroup *restrict groups, __global const MfccSegment *restrict segments,
    __global const MfccOutput *restrict outputs, __global const float *restrict samples, __global float *restrict cepstra) {
  __local float power[(POINTS + 4) * PITCH], work[WORK_FLOATS], energy[FRAMES];
  __local Lane lanes[FRAMES];
  const uint item = get_local_id(0), j = item % ITEMS, frame = item % FRAMES, part = item / FRAMES;
  float2 own_twiddles[16];  // of row j; the table is the same by columns
#pragma unroll
  for (uint r = 0; r < 16; ++r) own_twiddles[r] = twiddles[r * ITEMS + j];
  // Under a band's last zero weights.
  for (uint i = item; i < 3 * PITCH; i += GROUP_SIZE) power[(POINTS + 1) * PITCH + i] = 0;
  for (uint g = get_group_id(0); g < n_groups; g += get_num_groups(0)) {
    const MfccGroup group = groups[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    find_lanes(segments, group, o, lanes);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (uint f = item / ITEMS; f < FRAMES; f += GROUP_SIZE / ITEMS) {
      __local float *const exchange = work + item / ITEMS * EXCHANGE;
      __global const float *const from = samples + lanes[f].first_sample;
      float2 x[16];
      load_samples(o, (__global const float2 *)from, j, x);
      const float frame_energy = make_frame(o, window, from, j, exchange, x);
      if (j == 0) energy[f] = frame_energy;
      fourier_transform(o, own_twiddles, j, exchange, x);
      make_spectrum(o, real_twiddles, j, exchange, x, power + f);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (g + get_num_groups(0) < n_groups) ask_for_group(o, segments, groups[g + get_num_groups(0)], samples);
    __local float *const mel = work + frame, *const local_cepstra = work + N_MEL * FRAMES;
    const uint first_output = lanes[frame].first_output, last_output = first_output + lanes[frame].n_outputs - 1;
    for (uint i = 0; i < group.n_outputs; ++i) {
      __global const MfccBand *const bank = bands + outputs[min(first_output + i, last_output)].warp * N_MEL;
      for (uint m = part; m < N_MEL; m += PARTS) mel[m * FRAMES] = log_band(o, bank[m], weights, power + frame, PITCH);
      barrier(CLK_LOCAL_MEM_FENCE);
      make_cepstra(o, dct, energy[frame], mel, local_cepstra + frame * CEPSTRA_PITCH);
      barrier(CLK_LOCAL_MEM_FENCE);
      for (uint v = item; v < group.n_lanes * N_CEPS; v += GROUP_SIZE) {
        const uint f = v / N_CEPS, c = v % N_CEPS;
        if (i >= lanes[f].n_outputs) continue;
        __global float *const to = cepstra + outputs[lanes[f].first_output + i].first_value + (ulong)lanes[f].row * N_CEPS;
        to[c] = local_cepstra[f * CEPSTRA_PITCH + c];
      }
    }
  }
}
