// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md in one kernel, in float, for windows of any length; double reference reference/mfcc.cc,
// tolerance 1e-3 of a cepstrum. mfcc_512.cu is faster for usual ones where a block may have 110 KiB of shared memory.
//
// A block owns F frames (32 for transforms up to 512 samples, fewer above), of any jobs. They stay in its shared memory
// as rows of F values and one of padding, a frame a lane, from samples to cepstra. All lanes of a warp then have the
// same twiddles, weights and cosine transform, and no access meets a bank conflict. Only the first step, which reads
// samples, works on a frame a warp, so that global reads are in a row.
//   rows[2 e], rows[2 e + 1]  samples taken as complex numbers, transformed in place: radix-16 passes, then one of 2 to 16
//   rows[k]                   spectrum, over the same memory
//   mel[m], cepstra           once for each job that wants the frame: many VTLN factors share what comes before (Kou et al.
//   2013)
#include <cmath>

#include "core/backend/asr_backend.h"
#include "plugins/common/dither-inl.h"
#include "plugins/cuda/features/mfcc_launch.h"
#include "plugins/cuda/features/mfcc_stages.cuh"
#include "plugins/gpu/features/mfcc_stages-inl.h"

namespace asr::gpu {
namespace {

constexpr uint32_t kThreads = 256, kWarp = 32, kWarps = kThreads / kWarp, kMaxFrames = 32;
constexpr uint32_t kThreadPairs = 16;  // pairs of bins a thread: kBlockPoints / 2 / kThreads of mfcc.cc

// Shared divides the shared memory of a block.
struct Shared {
  float *rows, *mel, *cepstra;
  uint32_t stride;
  __device__ __forceinline__ Shared(const MfccTables &t, float *memory)
      : rows(memory),
        mel(rows + 2 * t.n_points * (t.block_frames + 1)),
        cepstra(mel + t.n_mel_padded * (t.block_frames + 1)),
        stride(t.block_frames + 1) {}
};

__device__ __forceinline__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

constexpr int kLaneSamples = 8;  // samples of a lane whose loads are under way together

// Returns x[n] of F1.
template <bool kDither>
__device__ __forceinline__ float sample_at(const MfccTables &t, const NumberedLane &lane, int n) {
  const float x = lane.samples[n];
  return kDither && n >= 0 ? x + t.dither * dither_noise(t.dither_seed, lane.number, static_cast<uint32_t>(n)) : x;
}

// Loads x[n - back] for the n = first + lane + 32 i before `end`; zero beyond.
template <bool kDither>
__device__ __forceinline__ void load_samples(const MfccTables &t, const NumberedLane &lane, int first, int end, int back,
                                             float (&x)[kLaneSamples]) {
  const int n = first + static_cast<int>(threadIdx.x % kWarp);
#pragma unroll
  for (int i = 0; i < kLaneSamples; ++i) x[i] = n + 32 * i < end ? sample_at<kDither>(t, lane, n + 32 * i - back) : 0;
}

// Computes F2 by a warp: y[n] = ((x[n] - offset) - a (x[n-1] - offset) - offset_after) w[n] into column f, then zeros. The mean
// after pre-emphasis follows from the sum of the x. Returns the energy.
template <bool kDither>
__device__ float make_frame(const MfccTables &t, const NumberedLane &lane, const Shared &shared, uint32_t f) {
  const int n_samples = static_cast<int>(t.window_samples), lane_number = static_cast<int>(threadIdx.x % kWarp);
  constexpr int kStep = kLaneSamples * static_cast<int>(kWarp);
  const float before = sample_at<kDither>(t, lane, t.preemphasis_in_frame ? 0 : -1),
              per_sample = 1.0f / static_cast<float>(n_samples);
  float offset = 0, offset_after = 0, energy = 0, x[kLaneSamples], previous[kLaneSamples];
  if (t.dc_removal != ASR_DC_KEEP) {
    float total = 0;
    for (int first = 0; first < n_samples; first += kStep) {
      load_samples<kDither>(t, lane, first, n_samples, 0, x);
#pragma unroll
      for (int i = 0; i < kLaneSamples; ++i) total += x[i];
    }
    total = warp_sum(total);
    if (t.dc_removal == ASR_DC_BEFORE_PREEMPHASIS) {
      offset = total * per_sample;
    } else {
      offset_after = (total - t.preemphasis * (total - sample_at<kDither>(t, lane, n_samples - 1) + before)) * per_sample;
    }
  }
  float *const column = shared.rows + f;
  for (int first = 0; first < n_samples; first += kStep) {
    load_samples<kDither>(t, lane, first, n_samples, 0, x);
    load_samples<kDither>(t, lane, first, n_samples, 1, previous);
#pragma unroll
    for (int i = 0; i < kLaneSamples; ++i) {
      const int n = first + lane_number + 32 * i;
      if (n >= n_samples) continue;
      const float now = x[i] - offset, then = (n > 0 ? previous[i] : before) - offset;
      const float y = (now - t.preemphasis * then - offset_after) * t.window[n];
      const float counted = t.energy_windowed ? y : now;
      energy += counted * counted;
      column[n * shared.stride] = y;
    }
  }
  const int n_total = static_cast<int>(2 * t.n_points);
  for (int n = n_samples + lane_number; n < n_total; n += kWarp) column[n * shared.stride] = 0;
  return t.energy_row >= 0 ? warp_sum(energy) : 0;
}

template <int kRadix>
__device__ __forceinline__ void transform(float2 (&x)[kRadix]) {
  if (kRadix == 2) transform_2(x);
  if (kRadix == 4) transform_4(&x[0], &x[1], &x[2], &x[3]);
  if (kRadix == 8) transform_8(x);
  if (kRadix == 16) transform_16(x);
}

// Makes one pass of kRadix over blocks of `length`: x becomes its transform, output r times root j r.
template <int kRadix>
__device__ __forceinline__ void pass(const MfccTables &t, const Shared &shared, uint32_t length, const float2 *twiddles) {
  const uint32_t f = threadIdx.x % t.block_frames, part = length / kRadix;
  for (uint32_t u = threadIdx.x / t.block_frames; u < t.n_points / kRadix; u += kThreads / t.block_frames) {
    const uint32_t j = u % part;
    float *const first = shared.rows + 2 * (u / part * length + j) * shared.stride + f;
    const uint32_t step = 2 * part * shared.stride;
    float2 x[kRadix];
#pragma unroll
    for (int r = 0; r < kRadix; ++r) x[r] = {first[r * step], first[r * step + shared.stride]};
    transform(x);
#pragma unroll
    for (int r = 0; r < kRadix; ++r) {
      const float2 y = twiddles != nullptr && r > 0 ? times(x[r], twiddles[j * kRadix + r]) : x[r];
      first[r * step] = y.x;
      first[r * step + shared.stride] = y.y;
    }
  }
  __syncthreads();
}

__device__ __forceinline__ void fourier_transform(const MfccTables &t, const Shared &shared) {
  uint32_t length = t.n_points;
  for (const float2 *twiddles = t.twiddles; length > 16; twiddles += length, length /= 16)
    pass<16>(t, shared, length, twiddles);
  if (length == 16) pass<16>(t, shared, length, nullptr);
  if (length == 8) pass<8>(t, shared, length, nullptr);
  if (length == 4) pass<4>(t, shared, length, nullptr);
  if (length == 2) pass<2>(t, shared, length, nullptr);
}

// Computes F3 from the transform Z of n = n_points complex numbers. Even and odd samples have the transforms E = (Z[k] + conj
// Z[n-k]) / 2 and O = (Z[k] - conj Z[n-k]) / 2i, and the frame X[k] = E + w^k O, X[n-k] = conj(E - w^k O). All pairs are in
// registers before the first is stored.
__device__ __forceinline__ void make_spectrum(const MfccTables &t, const Shared &shared) {
  const uint32_t f = threadIdx.x % t.block_frames, u = threadIdx.x / t.block_frames, n_units = kThreads / t.block_frames;
  const uint32_t n = t.n_points;
  const auto at = [&](uint32_t k) {
    const float *const z = shared.rows + 2 * t.position[k & (n - 1)] * shared.stride + f;
    return float2{z[0], z[shared.stride]};
  };
  float low[kThreadPairs], high[kThreadPairs];
#pragma unroll
  for (uint32_t i = 0; i < kThreadPairs; ++i) {
    const uint32_t k = u + i * n_units;
    if (k >= n / 2) continue;
    const float2 a = at(k), b = at(n - k);
    const float2 even = {0.5f * (a.x + b.x), 0.5f * (a.y - b.y)}, odd = {0.5f * (a.y + b.y), 0.5f * (b.x - a.x)};
    const float2 powers = powers_of_pair(even, odd, t.real_twiddles[k]);
    low[i] = powers.x, high[i] = powers.y;
  }
  float middle = 0;
  if (u == 0) middle = power_of(at(n / 2));
  __syncthreads();
  const auto store = [&](uint32_t k, float power) {
    shared.rows[k * shared.stride + f] = t.magnitude ? fast_sqrt(power) : power;
  };
#pragma unroll
  for (uint32_t i = 0; i < kThreadPairs; ++i) {
    const uint32_t k = u + i * n_units;
    if (k >= n / 2) continue;
    store(k, low[i]);
    store(n - k, high[i]);
  }
  if (u == 0) store(n / 2, middle);
  if (u < 3 && n + 1 + u < 2 * n) shared.rows[(n + 1 + u) * shared.stride + f] = 0;  // under a band's last zero weights
  __syncthreads();
}

// Computes F5 for one band of the spectrum, from bin[0] on.
__device__ __forceinline__ float band_energy(const float4 *weights, uint32_t n_fours, const float *bin, uint32_t stride) {
  float sum[2] = {};
#pragma unroll 1
  for (uint32_t i = 0; i < n_fours; ++i, bin += 4 * stride) {
    const float4 w = weights[i];
    sum[0] += w.x * bin[0];
    sum[1] += w.y * bin[stride];
    sum[0] += w.z * bin[2 * stride];
    sum[1] += w.w * bin[3 * stride];
  }
  return sum[0] + sum[1];
}

// Computes F5 and F6 under a filter bank.
__device__ __forceinline__ void make_log_mel(const MfccTables &t, uint32_t warp, const Shared &shared) {
  const uint32_t f = threadIdx.x % t.block_frames;
  for (uint32_t m = threadIdx.x / t.block_frames; m < t.n_mel; m += kThreads / t.block_frames) {
    const MfccBand band = t.bands[size_t{warp} * t.n_mel + m];
    const float *const bin = shared.rows + size_t{band.first_bin} * shared.stride + f;
    const float energy = band_energy(t.weights + band.first_four, band.n_fours, bin, shared.stride);
    shared.mel[m * shared.stride + f] = log_of_band(energy, t.log_floor, t.log_add);
  }
  const uint32_t m = t.n_mel + threadIdx.x / t.block_frames;
  if (m < t.n_mel_padded) shared.mel[m * shared.stride + f] = 0;
}

// Computes F7 and F8 into cepstra[f][i], the layout of the output, two of a frame at once.
__device__ __forceinline__ void make_cepstra(const MfccTables &t, const float *energy, const Shared &shared) {
  const uint32_t f = threadIdx.x % t.block_frames, n_units = kThreads / t.block_frames, n_fours = t.n_mel_padded / 4;
  for (uint32_t i = threadIdx.x / t.block_frames; i < t.n_ceps; i += 2 * n_units) {
    const uint32_t other = min(i + n_units, t.n_ceps - 1);
    const float4 *const a = t.dct + size_t{i} * n_fours, *const b = t.dct + size_t{other} * n_fours;
    float sum_a = 0, sum_b = 0;
    const float *mel = shared.mel + f;
#pragma unroll 4
    for (uint32_t four = 0; four < n_fours; ++four, mel += 4 * shared.stride) {
      const float4 wa = a[four], wb = b[four];
      const float m[4] = {mel[0], mel[shared.stride], mel[2 * shared.stride], mel[3 * shared.stride]};
      sum_a += wa.x * m[0], sum_b += wb.x * m[0];
      sum_a += wa.y * m[1], sum_b += wb.y * m[1];
      sum_a += wa.z * m[2], sum_b += wb.z * m[2];
      sum_a += wa.w * m[3], sum_b += wb.w * m[3];
    }
    const auto store = [&](uint32_t c, float sum) {
      const bool is_energy = static_cast<int32_t>(c) == t.energy_row;
      shared.cepstra[f * t.n_ceps + c] = is_energy ? log_of_energy(energy[f], t.log_floor) : sum;
    };
    store(i, sum_a);
    if (i + n_units < t.n_ceps) store(other, sum_b);
  }
}

// kPoints: n_points where it is compiled for one number, 0 where not.
template <uint32_t kPoints>
__global__ void __launch_bounds__(kThreads, 3) mfcc_kernel(MfccTables tables, MfccBatch batch) {
  MfccTables t = tables;
  if (kPoints != 0) t.n_points = kPoints, t.block_frames = kMaxFrames;
  extern __shared__ float memory[];
  __shared__ NumberedLane lanes[kMaxFrames];
  __shared__ float energy[kMaxFrames];
  const Shared shared(t, memory);
  const uint32_t first_lane = blockIdx.x * t.block_frames, n_lanes = min(t.block_frames, batch.n_lanes - first_lane);
  // Lanes beyond the last frame repeat it and are not stored.
  if (threadIdx.x < t.block_frames) lanes[threadIdx.x] = find_lane(t, batch, first_lane + min(threadIdx.x, n_lanes - 1));
  __syncthreads();
  for (uint32_t f = threadIdx.x / kWarp; f < t.block_frames; f += kWarps)
    energy[f] = t.dither > 0 ? make_frame<true>(t, lanes[f], shared, f) : make_frame<false>(t, lanes[f], shared, f);
  __syncthreads();
  fourier_transform(t, shared);
  make_spectrum(t, shared);

  uint32_t n_outputs = 0;
  for (uint32_t f = 0; f < n_lanes; ++f) n_outputs = max(n_outputs, lanes[f].n_outputs);
  const NumberedLane lane = lanes[threadIdx.x % t.block_frames];
  const auto warp_of = [&](uint32_t output) { return batch.outputs[lane.first_output + min(output, lane.n_outputs - 1)].warp; };
  const uint32_t n_units = kThreads / t.block_frames, stored = threadIdx.x / n_units;  // the frame that this thread stores
  const NumberedLane to = lanes[stored];
  uint32_t warp = warp_of(0);
  for (uint32_t output = 0; output < n_outputs; ++output) {
    const uint32_t next_warp = warp_of(output + 1);
    const bool is_stored = stored < n_lanes && output < to.n_outputs;
    const uint64_t first_value =
        is_stored ? batch.outputs[to.first_output + output].first_value + uint64_t{to.row} * t.n_ceps : 0;
    make_log_mel(t, warp, shared);
    __syncthreads();
    make_cepstra(t, energy, shared);
    __syncthreads();
    for (uint32_t i = threadIdx.x % n_units; i < t.n_ceps && is_stored; i += n_units) {
      batch.cepstra[first_value + i] = shared.cepstra[stored * t.n_ceps + i];
    }
    warp = next_warp;
  }
}

}  // namespace

size_t mfcc_shared_bytes(const MfccTables &t) {
  const size_t n_rows = size_t{2} * t.n_points + t.n_mel_padded;
  return (n_rows * (t.block_frames + 1) + size_t{t.block_frames} * t.n_ceps) * sizeof(float);
}

cudaError_t mfcc_prepare(size_t shared_bytes) {
  const auto bytes = static_cast<int>(shared_bytes);
  const cudaError_t status = cudaFuncSetAttribute(mfcc_kernel<0>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  return cudaFuncSetAttribute(mfcc_kernel<kUsualPoints>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

void launch_mfcc(const MfccTables &t, const MfccBatch &batch, cudaStream_t stream) {
  const uint32_t n_blocks = (batch.n_lanes + t.block_frames - 1) / t.block_frames;
  const auto kernel = t.n_points == kUsualPoints && t.block_frames == kMaxFrames ? mfcc_kernel<kUsualPoints> : mfcc_kernel<0>;
  kernel<<<n_blocks, kThreads, mfcc_shared_bytes(t), stream>>>(t, batch);
}

}  // namespace asr::gpu
