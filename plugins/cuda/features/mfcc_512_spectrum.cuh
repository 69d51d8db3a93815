// SPDX-License-Identifier: Apache-2.0
// Takes frames from samples to the spectrum, F1 to F3, half a warp a frame: the first half of mfcc_512.cu and
// mfcc_512_sums.cu.
#pragma once

#include "core/backend/asr_backend.h"
#include "plugins/cuda/features/mfcc_launch.h"
#include "plugins/cuda/features/mfcc_stages.cuh"
#include "plugins/gpu/features/mfcc_stages-inl.h"

namespace asr::gpu::mfcc_512 {

constexpr uint32_t kThreads = 128, kWarp = 32, kWarps = kThreads / kWarp, kAll = 0xffffffffu;
constexpr uint32_t kPoints = 256;
constexpr int kHalf = 16;                            // complex numbers; lanes of a frame
constexpr uint32_t kExchange = kHalf * (kHalf + 1);  // float2 a frame

__device__ __forceinline__ float half_warp_sum(float value) {
  for (int offset = kHalf / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kAll, value, offset);
  return value;
}

// Prefetches samples into the L2 cache.
__device__ __forceinline__ void prefetch(const float *samples) { asm volatile("prefetch.global.L2 [%0];" ::"l"(samples)); }

// Returns true if sample i (0 or 1) of row r of lane j lies in the window; the first kFull rows lie in it wholly.
template <int kFull>
__device__ __forceinline__ bool inside(const MfccTables &t, int r, uint32_t j, uint32_t i) {
  return r < kFull || 2 * (j + kHalf * r) + i < t.window_samples;
}

// Loads F1 of lane j: x[r] are samples 2 (j + 16 r) and the next; rows from kRows on lie beyond the window.
template <int kFull, int kRows>
__device__ __forceinline__ void load_samples(const MfccTables &t, const Lane &lane, uint32_t j, float2 (&x)[kHalf]) {
  const float2 *const pairs = reinterpret_cast<const float2 *>(lane.samples) + j;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    x[r] = inside<kFull>(t, r, j, 0) ? __ldg(pairs + r * kHalf) : float2{0, 0};
    if (!inside<kFull>(t, r, j, 1)) x[r].y = 0;
  }
}

// Computes F2 of lane j in place. Returns the frame's energy if it is wanted.
template <int kFull, int kRows>
__device__ __forceinline__ float make_frame(const MfccTables &t, const Lane &lane, const float2 *window, uint32_t j,
                                            float2 (&x)[kHalf]) {
  const float before = lane.samples[t.preemphasis_in_frame ? 0 : -1], a = t.preemphasis;
  float offset = 0, offset_after = 0;
  if (t.dc_removal != ASR_DC_KEEP) {
    const float per_sample = 1.0f / static_cast<float>(t.window_samples);
    float total = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) total += x[r].x + x[r].y;
    total = half_warp_sum(total);
    if (t.dc_removal == ASR_DC_BEFORE_PREEMPHASIS)
      offset = total * per_sample;
    else
      offset_after = (total - a * (total - lane.samples[t.window_samples - 1] + before)) * per_sample;
  }
  float energy = 0;
  if (t.energy_row >= 0 && !t.energy_windowed) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float2 now = {inside<kFull>(t, r, j, 0) ? x[r].x - offset : 0, inside<kFull>(t, r, j, 1) ? x[r].y - offset : 0};
      energy += now.x * now.x + now.y * now.y;
    }
  }
  const float constant = offset - a * offset + offset_after;
  float carried = before;  // precedes the pair of lane 0: the last sample of lane 15 in the row above
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float neighbour = __shfl_sync(kAll, x[r].y, j + kHalf - 1, kHalf);
    const float previous = j > 0 ? neighbour : carried;
    carried = neighbour;
    const float2 w = window[j + kHalf * r];
    x[r] = {(x[r].x - a * previous - constant) * w.x, (x[r].y - a * x[r].x - constant) * w.y};
  }
#pragma unroll
  for (int r = kRows; r < int(kHalf); ++r) x[r] = {0, 0};
  if (t.energy_row >= 0 && t.energy_windowed) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) energy += 4 * (x[r].x * x[r].x + x[r].y * x[r].y);
  }
  return t.energy_row >= 0 ? half_warp_sum(energy) : 0;
}

// Transforms a frame's 256 complex numbers: x[r] of lane j goes from number j + 16 r to frequency j + 16 r.
template <int kRows>
__device__ __forceinline__ void fourier_transform(const float2 (&twiddles)[kHalf], float2 *exchange, uint32_t j,
                                                  float2 (&x)[kHalf]) {
  transform_first_of_16(x, kRows);
  exchange[j] = x[0];
#pragma unroll
  for (uint32_t r = 1; r < kHalf; ++r) exchange[r * (kHalf + 1) + j] = times(x[r], twiddles[r]);
  __syncwarp();
#pragma unroll
  for (uint32_t r = 0; r < kHalf; ++r) x[r] = exchange[j * (kHalf + 1) + r];
  __syncwarp();
  transform_16(x);
}

// Computes F3 from the transform Z. Even and odd samples have the transforms E = (Z[k] + conj Z[256-k]) / 2 and O = (Z[k] -
// conj Z[256-k]) / 2i, and the frame X[k] = E + w^k O, X[256-k] = conj(E - w^k O). The factors 1/2 are in Z already. Lane j
// gets bin 16 r + place_of(r, j) for each row r of 16 bins.
__device__ __forceinline__ void make_spectrum(const MfccTables &t, const float2 *real_twiddles, uint32_t j,
                                              const float2 (&z)[kHalf], float (&power)[kHalf]) {
#pragma unroll
  for (uint32_t r = 0; r < kHalf / 2; ++r) {
    const uint32_t other = (kHalf - j) % kHalf;
    float2 b = {__shfl_sync(kAll, z[kHalf - 1 - r].x, other, kHalf), __shfl_sync(kAll, z[kHalf - 1 - r].y, other, kHalf)};
    if (j == 0) b = z[(kHalf - r) % kHalf];
    const float2 even = {z[r].x + b.x, z[r].y - b.y}, odd = {z[r].y + b.y, b.x - z[r].x};
    const float2 powers = powers_of_pair(even, odd, real_twiddles[j + kHalf * r]);
    power[r] = powers.x, power[kHalf - 1 - r] = powers.y;
  }
  float middle = 4 * power_of(z[kHalf / 2]);
  if (t.magnitude) {
#pragma unroll
    for (uint32_t r = 0; r < kHalf; ++r) power[r] = fast_sqrt(power[r]);
    middle = fast_sqrt(middle);
  }
  // Upper half: power[row] is bin 16 - j of row `row`. Lane 0 made bin 0 of the row above it, so its values move up.
#pragma unroll
  for (uint32_t row = kHalf - 1; row > kHalf / 2; --row) power[row] = j == 0 ? power[row - 1] : power[row];
  if (j == 0) power[kHalf / 2] = middle;
}
__device__ __forceinline__ uint32_t place_of(uint32_t row, uint32_t j) { return row < kHalf / 2 ? j : (kHalf - j) % kHalf; }

}  // namespace asr::gpu::mfcc_512
