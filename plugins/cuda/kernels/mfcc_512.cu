// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md in one kernel, in float, for windows of 257 to 512 samples, such as 25 ms at 16 kHz; double
// reference tests/reference/mfcc.cc, tolerance 1e-3 of a cepstrum.
//
// A block owns 64 frames, of any jobs. Half a warp takes a frame from samples to its spectrum in registers: lane j has the
// pairs of samples j, j + 16, j + 32 ... as complex numbers, 16 of the 256. Two transforms of 16, with one exchange through
// shared memory between them, leave lane j the frequencies j, j + 16 ...; those that the real spectrum needs together (k and
// 256 - k) are in lanes j and 16 - j. The spectrum goes to shared memory as rows of frames; from there a lane has two frames,
// and weights are the same for all lanes of a warp. Many VTLN factors share all before the filter bank (paper 004).
//   power[k][64 frames], pitch 66   no access meets a bank conflict
//   exchange[16][17] a frame         later the filter bank and log bands, two sets in turn: one barrier an output is enough
// Floors for an hour at 16 kHz: 230 MB of samples read, 19 MB written, 58 us at 4.3 TB/s. Measured: 568 instructions of a warp
// a frame, 3/4 of them for the spectrum, whose issue alone takes 205 us; shared memory moves 117 words of 32 lanes a frame.
#include "plugins/cuda/kernels/mfcc.h"
#include "plugins/cuda/kernels/mfcc_512_spectrum.cuh"
#include "plugins/cuda/kernels/mfcc_stages.cuh"
#include "plugins/cuda/kernels/tensor.cuh"

namespace asr::cuda {
namespace {

using namespace mfcc_512;

// F5, F6 of this lane's two frames, under banks a and b, which are the same but where jobs meet; zeros up to a multiple of 16
// bands. Warps take bands there and back, so that each has narrow and wide ones.
template <bool kOneJob>
__device__ __forceinline__ void make_log_mel(const MfccTables &t, const float4 *a, const float4 *b, const float2 *power,
                                             float2 *mel) {
  const uint32_t warp = threadIdx.x / kWarp, n_rows = Shared::mel_steps(t) * 16;
#pragma unroll 1
  for (uint32_t first = 0; first < n_rows; first += kWarps) {
    const uint32_t m = first + (first / kWarps % 2 == 0 ? warp : kWarps - 1 - warp);
    const auto energy = [&](const float4 *bank) {
      const MfccBankBand band = reinterpret_cast<const MfccBankBand *>(bank)[m];
      return band_energy(bank + band.first_four, band.n_fours, power + band.first_bin * kPairs, kPairs);
    };
    float2 value = {0, 0};
    if (m < t.n_mel) {
      value = energy(a);
      if (!kOneJob && b != a) value.y = energy(b).y;
      value = logarithm(t, value);
    }
    mel[m * (kMelPitch / 2)] = value;
  }
}

// F7, F8 of 16 frames and 8 cepstra on tensor cores: log bands mel[m][kMelPitch], from the first frame on. Halves of both
// factors, the product to 2^-22 of itself.
__device__ __forceinline__ void make_cepstra(const uint4 *dct, uint32_t n_steps, const float *mel, float (&sum)[4]) {
  const uint32_t lane = threadIdx.x % kWarp;
  const float *at = mel + lane % 4 * 2 * kMelPitch + lane / 4;
#pragma unroll 1
  for (uint32_t step = 0; step < n_steps; ++step, at += 16 * kMelPitch) {
    const uint4 b = dct[step * kWarp + lane];
    uint32_t hi[4], lo[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {  // frames 0, 8; bands 0, 8
      const float *const pair = at + i % 2 * 8 + i / 2 * 8 * kMelPitch;
      split({pair[0], pair[kMelPitch]}, &hi[i], &lo[i]);
    }
    multiply(sum, hi, b.z, b.w);
    multiply(sum, lo, b.x, b.y);
    multiply(sum, hi, b.x, b.y);
  }
}

__device__ __forceinline__ void copy_fours(float4 *to, const float4 *from, uint32_t n) {
  for (uint32_t i = threadIdx.x; i < n; i += kThreads) to[i] = from[i];
}

// What is made of the block's spectra. kOneJob: all frames are of the same jobs, so that they share banks and are one piece of
// each output.
template <bool kOneJob>
__device__ __forceinline__ void make_outputs(const MfccTables &t, const MfccBatch &batch, const Shared &shared,
                                             const Lane *lanes, uint32_t n_lanes, const float *energy) {
  const auto output_of = [&](uint32_t f, uint32_t output) -> const MfccOutput & {
    return batch.outputs[lanes[f].first_output + min(output, lanes[f].n_outputs - 1)];
  };
  const auto bank_of = [&](uint32_t f, uint32_t output) { return t.banks + size_t{output_of(f, output).warp} * t.bank_fours; };
  uint32_t n_outputs = lanes[0].n_outputs;
  for (uint32_t f = 1; f < n_lanes && !kOneJob; ++f) n_outputs = max(n_outputs, lanes[f].n_outputs);
  const uint32_t lane = threadIdx.x % kWarp, n_steps = Shared::mel_steps(t), n_tiles = (t.n_ceps + 7) / 8;
  const float2 *const power = reinterpret_cast<const float2 *>(shared.power) + lane;
  const auto store = [&](uint32_t f, uint32_t c, uint32_t output, uint64_t first_value, float a, float b) {
    if (f >= n_lanes || c >= t.n_ceps) return;
    if (!kOneJob) {
      if (output >= lanes[f].n_outputs) return;
      first_value = output_of(f, output).first_value;
    }
    float *const to = batch.cepstra + first_value + size_t{lanes[f].row} * t.n_ceps + c;
    if (t.energy_row >= 0) {
      const float log_energy = __logf(fmaxf(energy[f], t.log_floor));
      if (static_cast<int32_t>(c) == t.energy_row) a = log_energy;
      if (static_cast<int32_t>(c) + 1 == t.energy_row) b = log_energy;
    }
    to[0] = a;
    if (c + 1 < t.n_ceps) to[1] = b;
  };
  if (kOneJob) {
    copy_fours(shared.bank(t, 0), bank_of(0, 0), t.bank_fours);
    __syncthreads();
  }
#pragma unroll 1
  for (uint32_t output = 0; output < n_outputs; ++output) {
    const uint32_t set = output % 2;
    float2 *const mel = reinterpret_cast<float2 *>(shared.mel(t, set)) + lane;
    const uint64_t first_value = output_of(0, output).first_value;
    if (kOneJob) {
      const float4 *const from = bank_of(0, output + 1);
      const bool more = output + 1 < n_outputs;
      float4 first = {};
      if (more && threadIdx.x < t.bank_fours) first = from[threadIdx.x];  // under way while bands are summed
      make_log_mel<true>(t, shared.bank(t, set), nullptr, power, mel);
      if (more && threadIdx.x < t.bank_fours) shared.bank(t, set ^ 1)[threadIdx.x] = first;
      if (more) {
        for (uint32_t i = threadIdx.x + kThreads; i < t.bank_fours; i += kThreads) shared.bank(t, set ^ 1)[i] = from[i];
      }
    } else {
      make_log_mel<false>(t, bank_of(2 * lane, output), bank_of(2 * lane + 1, output), power, mel);
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t tile = threadIdx.x / kWarp; tile < kFrames / 16 * n_tiles; tile += kWarps) {
      const uint32_t frame = tile % (kFrames / 16) * 16, cepstra = tile / (kFrames / 16) * 8;
      float sum[4] = {};
      make_cepstra(shared.dct + cepstra / 8 * n_steps * kWarp, n_steps, shared.mel(t, set) + frame, sum);
      store(frame + lane / 4, cepstra + lane % 4 * 2, output, first_value, sum[0], sum[1]);
      store(frame + lane / 4 + 8, cepstra + lane % 4 * 2, output, first_value, sum[2], sum[3]);
    }
  }
}

// A block takes one group of 64 frames after the other.
template <int kFull, int kRows>
__global__ void __launch_bounds__(kThreads, 2) mfcc_512_kernel(MfccTables t, MfccBatch batch) {
  extern __shared__ __align__(16) float memory[];
  __shared__ Lane both_lanes[2][kFrames];  // of this group and the next
  __shared__ float energy[kFrames];
  const Shared shared(t, memory);
  // Lanes beyond the last frame repeat it and are not stored.
  const auto find_lanes = [&](uint32_t group, Lane *lanes) {
    if (threadIdx.x < kFrames) lanes[threadIdx.x] = find_lane(t, batch, min(group * kFrames + threadIdx.x, batch.n_lanes - 1));
  };
  find_lanes(blockIdx.x, both_lanes[0]);
  for (uint32_t i = threadIdx.x; i < 2 * kPoints; i += kThreads) {
    reinterpret_cast<float *>(shared.window)[i] = i < t.window_samples ? 0.5f * t.window[i] : 0;
  }
  if (threadIdx.x < kPoints / 2) shared.real_twiddles[threadIdx.x] = t.real_twiddles[threadIdx.x];
  if (threadIdx.x < 3 * kPitch) shared.power[(kPoints + 1) * kPitch + threadIdx.x] = 0;
  copy_fours(reinterpret_cast<float4 *>(shared.dct), reinterpret_cast<const float4 *>(t.dct_fragments), Shared::dct_fours(t));
  const uint32_t half = threadIdx.x / kHalf, j = threadIdx.x % kHalf, n_groups = (batch.n_lanes + kFrames - 1) / kFrames;
  const uint32_t n_lines = (min(t.shift_samples, t.window_samples) + 31) / 32;
  uint32_t set = 0;
#pragma unroll 1
  for (uint32_t group = blockIdx.x; group < n_groups; group += gridDim.x, set ^= 1) {
    const Lane *const lanes = both_lanes[set];
    float2 twiddles[kHalf];  // of row j; the table is the same by columns
#pragma unroll
    for (int r = 0; r < kHalf; ++r) twiddles[r] = t.twiddles[r * kHalf + j];
    __syncthreads();
    if (group + gridDim.x < n_groups) find_lanes(group + gridDim.x, both_lanes[set ^ 1]);
#pragma unroll 1
    for (uint32_t f = half; f < kFrames; f += kThreads / kHalf) {
      float2 x[kHalf];
      load_samples<kFull, kRows>(t, lanes[f], j, x);
      const float frame_energy = make_frame<kFull, kRows>(t, lanes[f], shared, j, x);
      if (j == 0) energy[f] = frame_energy;
      fourier_transform<kRows>(twiddles, shared.exchange + half * kExchange, j, x);
      make_spectrum(t, shared, j, f, x);
    }
    __syncthreads();
    if (group + gridDim.x < n_groups) {
      for (uint32_t i = threadIdx.x; i < n_lines * kFrames; i += kThreads) {
        prefetch(both_lanes[set ^ 1][i % kFrames].samples + i / kFrames * 32);
      }
    }
    // Outputs are numbered by frames: the first and the last of the group tell of all between them.
    const uint32_t n_lanes = min(kFrames, batch.n_lanes - group * kFrames);
    if (lanes[0].first_output == lanes[kFrames - 1].first_output) {
      make_outputs<true>(t, batch, shared, lanes, n_lanes, energy);
    } else {
      make_outputs<false>(t, batch, shared, lanes, n_lanes, energy);
    }
  }
}

}  // namespace

size_t mfcc_512_shared_bytes(const MfccTables &t) {
  const size_t fixed =
      kBins * kPitch * sizeof(float) + (kPoints + kPoints / 2) * sizeof(float2) + Shared::dct_fours(t) * sizeof(uint4);
  const size_t exchange = kThreads / kHalf * kExchange * sizeof(float2);
  const size_t outputs = 2 * Shared::set_fours(t) * sizeof(float4);
  return fixed + (exchange > outputs ? exchange : outputs);
}

cudaError_t mfcc_512_prepare(size_t shared_bytes) {
  const auto bytes = static_cast<int>(shared_bytes);
  const cudaError_t status = cudaFuncSetAttribute(mfcc_512_kernel<12, 13>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  return cudaFuncSetAttribute(mfcc_512_kernel<0, 16>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

void launch_mfcc_512(const MfccTables &t, const MfccBatch &batch, uint32_t n_multiprocessors, cudaStream_t stream) {
  const uint32_t n_groups = (batch.n_lanes + kFrames - 1) / kFrames, n_at_once = 2 * n_multiprocessors;
  const uint32_t n_blocks = n_groups < n_at_once ? n_groups : n_at_once;
  const bool usual = t.window_samples >= 12 * 2 * kHalf && t.window_samples <= 13 * 2 * kHalf;
  const auto kernel = usual ? mfcc_512_kernel<12, 13> : mfcc_512_kernel<0, 16>;
  kernel<<<n_blocks, kThreads, mfcc_512_shared_bytes(t), stream>>>(t, batch);
}

}  // namespace asr::cuda
