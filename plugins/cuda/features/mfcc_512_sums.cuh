// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md for frames under many filter banks, for windows of 257 to 512 samples. Double reference:
// reference/mfcc.cc, tolerance 1e-3 of a cepstrum.
//
// A block owns 8 frames, of any jobs; four blocks share a multiprocessor of Hopper's. Half a warp takes a frame from samples to
// its spectrum (mfcc_512_spectrum.cuh). Then bands are differences of running sums (plugins/gpu/features/mfcc_sums_types.h): a
// thread adds up 16 bins of a frame, and writes the sums below each of them to shared memory. There a warp takes a bank for all
// frames. A lane has a frame and a quarter of the bands. It looks up the sums at an edge, and makes the next band and its
// logarithm; none of this depends on how many bins a band has. Lanes are then permuted so that the logarithms of all quarters
// are the operand of one product on tensor cores, whose rows are the cepstra. The order of bands in this product is that of the
// quarters.
//   sums[257 bins][8 frames]   S and T below each bin; 8 lanes read 128 bytes in a row, whichever edge they are at
//   exchange, spectra          before them in the same memory
//   edges                      of a warp's bank, and of its next one, which is being copied
// Floors for an hour at 16 kHz and 21 banks: 230 MB of samples read and 393 MB written, 0.14 ms at 4.3 TB/s. Shared memory:
// a frame and a bank take 6 cycles of a multiprocessor for sums, 3 for edges (32 bytes a cycle, as lanes share them), about 2
// for the rest, in all 15 us a bank. Instructions: 32 of a warp a frame and bank, 8 cycles, if all schedulers were always busy.
#pragma once

#include "plugins/cuda/features/mfcc_512_spectrum.cuh"
#include "plugins/cuda/features/mfcc_launch.h"
#include "plugins/cuda/features/mfcc_stages.cuh"
#include "plugins/cuda/runtime/tensor.cuh"
#include "plugins/gpu/features/mfcc_stages-inl.h"
#include "plugins/gpu/features/mfcc_sums_types.h"

namespace asr::gpu::mfcc_512_sums {

using namespace mfcc_512;

constexpr uint32_t kBlocks = 4;  // blocks of a multiprocessor
constexpr uint32_t kFrames = kSumsFrames;
constexpr uint32_t kRow = kPoints + 4;  // floats of a spectrum; frames f and f + 4 are in different banks
constexpr uint32_t kMaxEdges = kSumsMostSteps * kSumsStep + 2;
constexpr uint32_t kOffset = (1u << kSumsOffsetBits) - 1;
constexpr uint32_t kSegment = 16, kSegments = kPoints / kSegment;  // bins that a thread adds up
static_assert(kFrames * kSegments == kThreads && kFrames * kSumsQuarters == kWarp, "a thread has a segment");

struct Memory {
  union {
    struct {
      float2 exchange[kFrames][kExchange];
      float spectra[kFrames][kRow];
    };
    double2 sums[kPoints + 1][kFrames];
  };
  float2 window[kPoints], real_twiddles[kPoints / 2];
  double2 totals[kWarps][kFrames];
  MfccEdges edges[kWarps][2][kMaxEdges];  // of a warp's bank and the next
  Lane lanes[2][kFrames];                 // of this group and the next
  float energy[2][kFrames];
};

__device__ __forceinline__ float binary_logarithm(float v) {
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}

// Computes S and T below each bin of the frames from their spectra, without bins that no band counts: a constant would be large
// beside all others. Sums of segments are added in the segments' order.
__device__ __forceinline__ void make_sums(Memory &memory, const double *positions, uint32_t first_bin) {
  const uint32_t f = threadIdx.x % kFrames, segment = threadIdx.x / kFrames, warp = threadIdx.x / kWarp,
                 lane = threadIdx.x % kWarp;
  float power[kSegment];
#pragma unroll
  for (uint32_t i = 0; i < kSegment; i += 4) {
    const float4 four = *reinterpret_cast<const float4 *>(&memory.spectra[f][segment * kSegment + i]);
    power[i] = four.x, power[i + 1] = four.y, power[i + 2] = four.z, power[i + 3] = four.w;
  }
  if (segment * kSegment < first_bin) {
#pragma unroll
    for (uint32_t i = 0; i < kSegment; ++i) power[i] = segment * kSegment + i < first_bin ? 0 : power[i];
  }
  double position[kSegment];
#pragma unroll
  for (uint32_t i = 0; i < kSegment; i += 2) {
    const double2 two = __ldg(reinterpret_cast<const double2 *>(positions + segment * kSegment + i));
    position[i] = two.x, position[i + 1] = two.y;
  }
  double s = 0, t = 0;
#pragma unroll
  for (uint32_t i = 0; i < kSegment; ++i) {
    s += static_cast<double>(power[i]);
    t = fma(position[i], static_cast<double>(power[i]), t);
  }
#pragma unroll
  for (uint32_t offset = kFrames; offset < kWarp; offset *= 2) {
    const double s_below = __shfl_up_sync(kAll, s, offset), t_below = __shfl_up_sync(kAll, t, offset);
    if (lane >= offset) s += s_below, t += t_below;
  }
  if (lane >= kWarp - kFrames) memory.totals[warp][f] = {s, t};
  s = __shfl_up_sync(kAll, s, kFrames), t = __shfl_up_sync(kAll, t, kFrames);
  if (lane < kFrames) s = 0, t = 0;
  __syncthreads();
  double2 below = {0, 0};
  for (uint32_t w = 0; w < warp; ++w) below.x += memory.totals[w][f].x, below.y += memory.totals[w][f].y;
  s += below.x, t += below.y;
#pragma unroll
  for (uint32_t i = 0; i < kSegment; ++i) {
    memory.sums[segment * kSegment + i][f] = {s, t};
    s += static_cast<double>(power[i]);
    t = fma(position[i], static_cast<double>(power[i]), t);
  }
  if (segment + 1 == kSegments) memory.sums[kPoints][f] = {s, t};
  __syncthreads();
}

// Starts to copy a bank's edges to shared memory; wait_copies() completes the copy.
template <int kSteps>
__device__ __forceinline__ void load_edges(const MfccSumsTables &tables, uint32_t bank, MfccEdges *edges) {
  constexpr uint32_t kEdges = kSteps * kSumsStep + 2, kFours = kEdges * sizeof(MfccEdges) / sizeof(uint4);
  const uint4 *const from = reinterpret_cast<const uint4 *>(tables.edges + size_t{bank} * kEdges);
#pragma unroll
  for (uint32_t i = threadIdx.x % kWarp; i < kFours; i += kWarp) copy_16(reinterpret_cast<uint4 *>(edges) + i, from + i);
  commit_copies();
}

// Computes F5 to F7 of a frame and a quarter of a bank in each lane. sums: those of the frame below bin 0. The cepstra are
// spread as mma.m16n8k16 does: cepstra lane / 4 and + 8 of frames 2 (lane % 4) and the next.
template <int kSteps>
__device__ __forceinline__ void make_cepstra(const MfccTables &t, const MfccEdges *edges, const float *gains,
                                             const double2 *sums, const uint32_t (&dct)[kSteps][4], float (&cepstra)[4]) {
  const uint32_t lane = threadIdx.x % kWarp, quarter = lane / kFrames;
  const uint32_t source = lane % kSumsQuarters * kFrames + lane / kSumsQuarters;
  const float least = t.log_floor + t.log_add;
  const auto value = [&](uint32_t r) {
    const double at = edges[r].edge[quarter].at;
    const double2 below = sums[static_cast<uint32_t>(__double2loint(at)) & kOffset];
    return fma(at, below.x, -below.y);
  };
  double g = value(1), slope = (g - value(0)) * edges[1].edge[quarter].inverse;
  float rest[4] = {};
  cepstra[0] = cepstra[1] = cepstra[2] = cepstra[3] = 0;
  uint32_t high[kSteps], low[kSteps];
#pragma unroll
  for (uint32_t step = 0; step < kSteps; ++step) {
    float levels[kSumsStep];
#pragma unroll
    for (uint32_t i = 0; i < kSumsStep; ++i) {
      const uint32_t r = step * kSumsStep + i + 2;
      const double g_now = value(r), slope_now = (g_now - g) * edges[r].edge[quarter].inverse;
      const float energy = static_cast<float>(slope_now - slope);
      g = g_now, slope = slope_now;
      const float gain = gains != nullptr ? gains[(r - 2) * kSumsQuarters + quarter] : 1;
      levels[i] = binary_logarithm(fmaxf(fmaf(energy, gain, t.log_add), least));
    }
    split({levels[0], levels[1]}, &high[step], &low[step]);
    high[step] = __shfl_sync(kAll, high[step], source), low[step] = __shfl_sync(kAll, low[step], source);
    if (step % 2 == 1) {  // two steps at once
      multiply(cepstra, dct[step - 1], high[step - 1], high[step]);
      multiply(rest, dct[step - 1], low[step - 1], low[step]);
      multiply(rest, dct[step], high[step - 1], high[step]);
    } else if (step + 1 == kSteps) {
      const uint32_t high_dct[2] = {dct[step][0], dct[step][1]}, low_dct[2] = {dct[step][2], dct[step][3]};
      multiply(cepstra, high_dct, high[step]);
      multiply(rest, high_dct, low[step]);
      multiply(rest, low_dct, high[step]);
    }
  }
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) cepstra[i] += rest[i];
}

// OwnRow is the row of cepstra of one of the two frames that a lane stores values of.
struct OwnRow {
  float *at;    // address of the lane's first cepstrum, in an output that begins at first_value 0
  bool has[2];  // the lane stores cepstra lane / 4 and + 8
  float energy;
  __device__ __forceinline__ OwnRow(const MfccTables &t, const MfccBatch &batch, const Lane &lane, bool wanted,
                                    float frame_energy)
      : at(batch.cepstra + size_t{lane.row} * t.n_ceps + first()),
        has{wanted && first() < t.n_ceps, wanted && first() + 8 < t.n_ceps},
        energy(t.energy_row >= 0 ? log_of_energy(frame_energy, t.log_floor) : 0) {}
  __device__ __forceinline__ void store(const MfccTables &t, uint64_t first_value, float value, float value_8) const {
    if (t.energy_row == static_cast<int32_t>(first())) value = energy;
    if (t.energy_row == static_cast<int32_t>(first() + 8)) value_8 = energy;
    if (has[0]) at[first_value] = value;
    if (has[1]) at[first_value + 8] = value_8;
  }
  static __device__ __forceinline__ uint32_t first() { return threadIdx.x % kWarp / 4; }
};

// Makes the outputs of those frames of a group that belong to the jobs of frame `leader`, a bank a warp. Returns them as a
// mask.
template <int kSteps, bool kGains>
__device__ __forceinline__ uint32_t make_outputs(const MfccTables &t, const MfccBatch &batch, const MfccSumsTables &tables,
                                                 uint32_t n_lanes, uint32_t leader, const Lane *lanes, const float *energy,
                                                 Memory &memory) {
  const uint32_t warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, f = lane % kFrames, stored = lane % 4 * 2;
  const uint32_t first_output = lanes[leader].first_output, n_outputs = lanes[leader].n_outputs, last = n_outputs - 1;
  const uint32_t done = __ballot_sync(kAll, lanes[f].first_output == first_output);
  if (warp >= n_outputs) return done;
  const auto wanted = [&](uint32_t frame) { return frame < n_lanes && (done >> frame & 1u) != 0; };
  const OwnRow rows[2] = {OwnRow(t, batch, lanes[stored], wanted(stored), energy[stored]),
                          OwnRow(t, batch, lanes[stored + 1], wanted(stored + 1), energy[stored + 1])};
  const MfccOutput *const outputs = batch.outputs + first_output;
  MfccOutput output = outputs[warp], next = outputs[min(warp + kWarps, last)];
  uint32_t set = 0;
  load_edges<kSteps>(tables, output.warp, memory.edges[warp][0]);
  uint32_t dct[kSteps][4];
#pragma unroll
  for (uint32_t step = 0; step < kSteps; ++step) {
    const uint4 four = __ldg(tables.dct + step * kWarp + lane);
    dct[step][0] = four.x, dct[step][1] = four.y, dct[step][2] = four.z, dct[step][3] = four.w;
  }
#pragma unroll 1
  for (uint32_t number = warp; number < n_outputs; number += kWarps, set ^= 1) {
    wait_copies<0>();
    __syncwarp();
    load_edges<kSteps>(tables, next.warp, memory.edges[warp][set ^ 1]);
    const uint64_t first_value = output.first_value;
    const float *const gains = kGains ? tables.gains + size_t{output.warp} * kSteps * kSumsStep * kSumsQuarters : nullptr;
    output = next, next = outputs[min(number + 2 * kWarps, last)];
    float cepstra[4];
    make_cepstra(t, memory.edges[warp][set], gains, &memory.sums[0][f], dct, cepstra);
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) rows[i].store(t, first_value, cepstra[i], cepstra[2 + i]);
  }
  wait_copies<0>();
  return done;
}

// A block takes one group of 8 frames after the other.
template <int kFull, int kRows, int kSteps, bool kGains>
__device__ __forceinline__ void extract(const MfccTables &t, const MfccBatch &batch, const MfccSumsTables &tables,
                                        Memory &memory) {
  // Lanes beyond the last frame repeat it and are not stored.
  const auto find_lanes = [&](uint32_t group, Lane *lanes) {
    if (threadIdx.x < kFrames) lanes[threadIdx.x] = find_lane(t, batch, min(group * kFrames + threadIdx.x, batch.n_lanes - 1));
  };
  find_lanes(blockIdx.x, memory.lanes[0]);
  for (uint32_t i = threadIdx.x; i < 2 * kPoints; i += kThreads) {
    reinterpret_cast<float *>(memory.window)[i] = i < t.window_samples ? 0.5f * t.window[i] : 0;
  }
  for (uint32_t i = threadIdx.x; i < kPoints / 2; i += kThreads) memory.real_twiddles[i] = t.real_twiddles[i];
  // The two halves of a warp have frames f and f + 4.
  const uint32_t j = threadIdx.x % kHalf, f = threadIdx.x / kWarp + threadIdx.x / kHalf % 2 * (kFrames / 2);
  const uint32_t n_groups = (batch.n_lanes + kFrames - 1) / kFrames;
  const uint32_t n_lines = (min(t.shift_samples, t.window_samples) + 31) / 32;
  uint32_t set = 0;
  __syncthreads();
#pragma unroll 1
  for (uint32_t group = blockIdx.x; group < n_groups; group += gridDim.x, set ^= 1) {
    const Lane *const lanes = memory.lanes[set];
    float *const energy = memory.energy[set];
    float2 twiddles[kHalf];  // row j of the symmetric table
#pragma unroll
    for (int r = 0; r < kHalf; ++r) twiddles[r] = t.twiddles[r * kHalf + j];
    float2 x[kHalf];
    load_samples<kFull, kRows>(t, lanes[f], j, x);
    const float frame_energy = make_frame<kFull, kRows>(t, lanes[f], memory.window, j, x);
    if (j == 0) energy[f] = frame_energy;
    __syncthreads();  // all are done with the sums of the group before
    fourier_transform<kRows>(twiddles, memory.exchange[f], j, x);
    float power[kHalf];
    make_spectrum(t, memory.real_twiddles, j, x, power);
#pragma unroll
    for (uint32_t r = 0; r < kHalf; ++r) memory.spectra[f][r * kHalf + place_of(r, j)] = power[r];
    if (group + gridDim.x < n_groups) find_lanes(group + gridDim.x, memory.lanes[set ^ 1]);
    __syncthreads();
    if (group + gridDim.x < n_groups) {
      const float *const next_samples = memory.lanes[set ^ 1][threadIdx.x % kFrames].samples;
#pragma unroll 1
      for (uint32_t line = threadIdx.x / kFrames; line < n_lines; line += kThreads / kFrames)
        prefetch(next_samples + line * 32);
    }
    make_sums(memory, tables.positions, tables.first_bin);
    const uint32_t n_lanes = min(kFrames, batch.n_lanes - group * kFrames);
    for (uint32_t todo = kAll; todo != 0;) {
      const uint32_t leader = __ffs(static_cast<int>(todo)) - 1;
      todo &= ~make_outputs<kSteps, kGains>(t, batch, tables, n_lanes, leader, lanes, energy, memory);
    }
  }
}

}  // namespace asr::gpu::mfcc_512_sums
