// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md in one kernel, in float, for windows of 257 to 512 samples, such as 25 ms at 16 kHz.
// Double reference: reference/mfcc.cc, tolerance 1e-3 of a cepstrum.
//
// A work-group of 128 owns 32 frames, of any jobs, and takes one group of frames after the other. Sixteen items take a frame
// from samples to its spectrum in registers: item j has the pairs of samples j, j + 16, j + 32 ... as complex numbers, 16 of
// the 256. Two transforms of 16, with one exchange through local memory between them, leave item j the frequencies j, j + 16
// ... The real spectrum needs frequencies k and 256 - k together, which are in items j and 16 - j. The spectrum goes to local
// memory as a matrix, which is multiplied with the filter bank tile by tile (plugins/gpu/features/mfcc_tiles.h). A warp has a
// quarter of the tiles and loads their weights from device memory to registers. VTLN factors share all steps before the filter
// bank (Kou et al. 2013).
//   power[16][33 frames][8]    pairs of bins, high and low; no access meets a bank conflict
//   exchange[16][17] a frame   real and imaginary parts in turn, so that all fits 48 KiB
//   mel                        later, over exchange
// Floor: samples read and cepstra written once; 450 instructions of a warp a frame for the spectrum.
//   -D NVIDIA=1: a frame's items are half a warp and exchange single numbers without local memory; filter bank and cosine
//   transform run on tensor cores
//   -D WORK_FLOATS=...: size of exchange or of mel, whichever is larger
#define POINTS 256u
#define ITEMS 16u  // work-items of a frame
#define FRAMES 32u
#define GROUP_SIZE 128
#define CHUNK_PAIRS ((FRAMES + 1) * 8)
#define ROW 17u  // row length of exchange
#define EXCHANGE (ITEMS * ROW)
#define PARTS (GROUP_SIZE / FRAMES)  // items of a frame after the spectrum
#define N_ROWS ((WINDOW_SAMPLES + 31) / 32)
#define PER_SAMPLE (1.0f / WINDOW_SAMPLES)
#define MEL_STEPS ((N_MEL + 15) / 16)  // two tiles of a bank each
#define CEPSTRA_TILES ((N_CEPS + 7) / 8)
#define HEAD_FOURS 32  // at most, of a bank

#define TENSOR_PTX NVIDIA
#include "plugins/ocl/features/mfcc_stages.clh"
#include "plugins/ocl/runtime/tensor_halves.clh"

// Lane has the offset of a frame's samples, and the row and the outputs of its cepstra.
typedef struct Lane {
  ulong first_sample;
  uint row, first_output, n_outputs;  // row: of its jobs' cepstra
} Lane;

// Returns F6 of a band as a base-2 logarithm, which the cosine transform makes a natural one.
static inline float logarithm_of_band(__constant MfccOptions *o, float energy) {
  return native_log2(fmax(energy, o->log_floor) + o->log_add);
}

// Stores F8 of cepstrum i of frame f, unless `to` is 0.
static inline void store_cepstrum(__constant MfccOptions *o, __local const float *energy, uint f, uint i, float value,
                                  __global float *to) {
  if (to == 0 || i >= N_CEPS) return;
  to[i] = ENERGY != 0 && (int)i == o->energy_row ? log_of_energy(energy[f], o->log_floor) : value;
}

// NVIDIA's compiler heeds -cl-nv-maxrregcount only in kernels whose work-groups may have any size. Without it, registers may
// suffice for three groups of a multiprocessor, not four.
#if NVIDIA
#define KERNEL_SIZE
#include "plugins/ocl/features/mfcc_lanes_nvidia.clh"
#else
#define KERNEL_SIZE __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
#include "plugins/ocl/features/mfcc_lanes_local.clh"
#endif

#include "plugins/ocl/features/mfcc_512_spectrum.clh"

// Makes the outputs of a run of lanes from their spectra.
static inline void make_outputs(__constant MfccOptions *o, __global const uint4 *banks, __global const uint4 *dct, MfccRun run,
                                __global const MfccOutput *outputs, __local const uint2 *power, __local const Lane *lanes,
                                __local const float *energy, __local uint4 *head, __local uint2 *mel, __global float *cepstra) {
  const uint item = get_local_id(0), last = run.first_output + run.n_outputs - 1;
  __global const uint4 *bank = banks + outputs[run.first_output].warp * o->bank_fours;
  const bool has_head = item < MEL_STEPS + 1;
  uint4 kept = (uint4)(0);
  if (has_head) kept = bank[item];
  uint next = outputs[min(run.first_output + 1, last)].warp;
  __global const MfccOutput *own[OWN_FRAMES];  // 0 where the frame is none of the run
  __global float *rows[OWN_FRAMES];
#pragma unroll
  for (uint k = 0; k < OWN_FRAMES; ++k) {
    const uint f = own_frame(k);
    own[k] = f >= run.first_lane && f < run.first_lane + run.n_lanes ? outputs + lanes[f].first_output : 0;
    rows[k] = cepstra + (ulong)lanes[f].row * N_CEPS;
  }
  for (uint i = 0; i < run.n_outputs; ++i) {
    if (has_head) head[item] = kept;
    barrier(CLK_LOCAL_MEM_FENCE);
    __global const uint4 *const next_bank = banks + next * o->bank_fours;
    if (has_head) kept = next_bank[item];
    next = outputs[min(run.first_output + i + 2, last)].warp;
    __global float *to[OWN_FRAMES];
#pragma unroll
    for (uint k = 0; k < OWN_FRAMES; ++k) to[k] = own[k] != 0 ? rows[k] + own[k][i].first_value : 0;
    make_log_mel(o, bank, head, power, mel);
    barrier(CLK_LOCAL_MEM_FENCE);
    make_cepstra(o, dct, energy, mel, to);
    bank = next_bank;
  }
}

// Fills `lanes` with the frames of a group; lanes beyond the last frame repeat it.
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

// Prefetches the samples of a group.
static inline void ask_for_group(__constant MfccOptions *o, __global const MfccSegment *segments, MfccGroup group,
                                 __global const float *samples) {
  for (uint s = group.first_segment; s < group.first_segment + group.n_segments; ++s) {
    const uint n = (segments[s].n_frames - 1) * SHIFT_SAMPLES + WINDOW_SAMPLES;
    for (uint i = get_local_id(0) * 32; i < n; i += GROUP_SIZE * 32) ask_for(samples + segments[s].first_sample + i);
  }
}

__kernel KERNEL_SIZE void mfcc_512(__constant MfccOptions *o, __global const float2 *restrict window,
                                   __global const float2 *restrict twiddles, __global const float2 *restrict real_twiddles,
                                   __global const uint4 *restrict banks, __global const uint4 *restrict dct, uint n_groups,
                                   __global const MfccGroup *restrict groups, __global const MfccSegment *restrict segments,
                                   __global const MfccRun *restrict runs, __global const MfccOutput *restrict outputs,
                                   __global const float *restrict samples, __global float *restrict cepstra) {
  __local float4 work[WORK_FLOATS / 4];
  __local uint4 power[POINTS / 16 * CHUNK_PAIRS / 2], head[HEAD_FOURS];
  __local float energy[FRAMES];
  __local float2 local_window[POINTS], local_twiddles[POINTS / 2];
  __local Lane lanes[FRAMES];
  const uint item = get_local_id(0), j = item % ITEMS;
  __local float *const exchange = (__local float *)work + item / ITEMS * EXCHANGE;
  float2 own_twiddles[16];  // row j of the symmetric table
#pragma unroll
  for (uint r = 0; r < 16; ++r) own_twiddles[r] = twiddles[r * ITEMS + j];
  for (uint i = item; i < POINTS; i += GROUP_SIZE) local_window[i] = window[i];
  local_twiddles[item] = real_twiddles[item];
  for (uint g = get_group_id(0); g < n_groups; g += get_num_groups(0)) {
    const MfccGroup group = groups[g];
    find_lanes(segments, group, o, lanes);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (uint f = item / ITEMS; f < FRAMES; f += GROUP_SIZE / ITEMS) {
      __global const float *const from = samples + lanes[f].first_sample;
      float2 x[16];
      load_samples(o, (__global const float2 *)from, j, x);
      const float frame_energy = make_frame(o, local_window, from, j, exchange, x);
      if (j == 0) energy[f] = frame_energy;
      fourier_transform(o, own_twiddles, j, exchange, x);
      make_spectrum(o, local_twiddles, j, exchange, x, (__local uint2 *)power + f * 8);
    }
    if (g + get_num_groups(0) < n_groups) ask_for_group(o, segments, groups[g + get_num_groups(0)], samples);
    for (uint r = group.first_run; r < group.first_run + group.n_runs; ++r) {
      make_outputs(o, banks, dct, runs[r], outputs, (__local const uint2 *)power, lanes, energy, head, (__local uint2 *)work,
                   cepstra);
    }
  }
}
