// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md in one kernel, in float, for windows of 257 to 512 samples, such as 25 ms at 16 kHz; double
// reference tests/reference/mfcc.cc, tolerance 1e-3 of a cepstrum.
//
// A block owns 64 frames, of any jobs. Half a warp takes a frame from samples to its spectrum in registers: lane j has the
// pairs of samples j, j + 16, j + 32 ... as complex numbers, 16 of the 256. Two transforms of 16, with one exchange through
// shared memory between them, leave lane j the frequencies j, j + 16 ...; those that the real spectrum needs together (k and
// 256 - k) are in lanes j and 16 - j. The spectrum goes to shared memory as rows of frames; from there a lane has two frames,
// and weights are the same for all lanes of a warp. Many VTLN factors share all before the filter bank (paper 004).
// The filter bank reads each bin once for the two bands that share it.
//   power[k][64 frames], pitch 66   no access meets a bank conflict
//   first_bank                      stays while groups want the same one first
//   exchange[16][17] a frame        later a second bank and log bands, two sets in turn: one barrier an output is enough
// Floors for an hour at 16 kHz: 230 MB of samples read, 19 MB written, 58 us at 4.3 TB/s; 435 instructions of a warp a frame
// for the spectrum, whose issue alone takes 205 us.
#include "plugins/cuda/kernels/mfcc.h"
#include "plugins/cuda/kernels/mfcc_512_spectrum.cuh"
#include "plugins/cuda/kernels/mfcc_stages.cuh"
#include "plugins/cuda/kernels/tensor.cuh"

namespace asr::cuda {
namespace {

using namespace mfcc_512;

__device__ __forceinline__ float binary_logarithm(float v) {
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}

__device__ __forceinline__ void add_product(float w, float2 v, float2 *sum) { sum->x += w * v.x, sum->y += w * v.y; }

// Sums of this lane's two frames over a slope.
struct SlopeSums {
  float2 falling = {0, 0}, rising = {0, 0};
};

__device__ __forceinline__ SlopeSums sum_slope(const float4 *bank, uint32_t i, const float2 *power) {
  const MfccSlope slope = reinterpret_cast<const MfccSlope *>(bank)[i];
  const float4 *weights = bank + slope.first_two;
  const float2 *bin = power + slope.first_bin * kPairs;
  SlopeSums sums;
#pragma unroll 1
  for (uint32_t n = slope.n_twos; n > 0; --n, bin += 2 * kPairs) {
    const float4 w = *weights++;
    add_product(w.x, bin[0], &sums.falling);
    add_product(w.y, bin[0], &sums.rising);
    add_product(w.z, bin[kPairs], &sums.falling);
    add_product(w.w, bin[kPairs], &sums.rising);
  }
  return sums;
}

// F5, F6 of this lane's two frames under a bank, for the bands of this warp: each is a rising and a falling side. Base-2
// logarithms, which the cosine transform makes natural ones.
__device__ __forceinline__ void make_log_mel(const MfccTables &t, const float4 *bank, const float2 *power, float2 *mel) {
  const uint32_t warp = threadIdx.x / kWarp;
  const MfccParts &parts = *reinterpret_cast<const MfccParts *>(bank + (t.n_mel + 2) / 2);
  const uint32_t first = parts.first_band[warp], end = parts.first_band[warp + 1];
  if (first == end) return;
  float2 rising = sum_slope(bank, first, power).rising;
#pragma unroll 1
  for (uint32_t m = first; m < end; ++m) {
    const SlopeSums sums = sum_slope(bank, m + 1, power);
    const float2 energy = rising + sums.falling;
    mel[m * (kMelPitch / 2)] = {binary_logarithm(fmaxf(energy.x, t.log_floor) + t.log_add),
                                binary_logarithm(fmaxf(energy.y, t.log_floor) + t.log_add)};
    rising = sums.rising;
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

// One of the frames whose cepstra a lane stores.
struct OwnFrame {
  const MfccOutput *outputs;  // NULL: none of the run
  float *to;                  // of an output at first_value 0
  float log_energy;
  __device__ __forceinline__ OwnFrame(const MfccTables &t, const MfccBatch &batch, const Lane &lane, bool in_run, float energy)
      : outputs(in_run ? batch.outputs + lane.first_output : nullptr),
        to(batch.cepstra + size_t{lane.row} * t.n_ceps),
        log_energy(logarithm_of_energy(t, energy)) {}
  __device__ __forceinline__ void store(const MfccTables &t, uint64_t first_value, uint32_t i, float value) const {
    if (outputs != nullptr && i < t.n_ceps) to[first_value + i] = static_cast<int32_t>(i) == t.energy_row ? log_energy : value;
  }
};

// What is made of the spectra of a run: lanes first ... end - 1, whose outputs are under the same banks. The first of these is
// there. Returns the number of the bank that is left in its place.
__device__ __forceinline__ uint32_t make_outputs(const MfccTables &t, const MfccBatch &batch, const Shared &shared,
                                                 const Lane *lanes, uint32_t first, uint32_t end, const float *energy) {
  const uint32_t warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, n_steps = Shared::mel_steps(t);
  const uint32_t tile = warp % (kFrames / 16) * 16, frame = tile + lane / 4;
  const OwnFrame a(t, batch, lanes[frame], frame >= first && frame < end, energy[frame]),
      b(t, batch, lanes[frame + 8], frame + 8 >= first && frame + 8 < end, energy[frame + 8]);
  const float2 *const power = reinterpret_cast<const float2 *>(shared.power) + lane;
  const MfccOutput *const outputs = batch.outputs + lanes[first].first_output;
  const uint32_t last = lanes[first].n_outputs - 1;
  uint32_t in_place = lanes[first].first_bank, next = outputs[min(1u, last)].warp;
#pragma unroll 1
  for (uint32_t output = 0; output <= last; ++output) {
    const uint32_t set = output % 2;
    const bool more = output < last;
    const float4 *const from = t.banks + size_t{next} * t.bank_fours;
    float4 kept = {};
    if (more && threadIdx.x < t.bank_fours) kept = from[threadIdx.x];  // under way while bands are summed
    if (more && set == 1) in_place = next;
    next = outputs[min(output + 2, last)].warp;
    const uint64_t first_a = a.outputs != nullptr ? a.outputs[output].first_value : 0,
                   first_b = b.outputs != nullptr ? b.outputs[output].first_value : 0;
    make_log_mel(t, shared.bank(t, set), power, reinterpret_cast<float2 *>(shared.mel(t, set)) + lane);
    if (more && threadIdx.x < t.bank_fours) shared.bank(t, set ^ 1)[threadIdx.x] = kept;
    if (more) {
      for (uint32_t i = threadIdx.x + kThreads; i < t.bank_fours; i += kThreads) shared.bank(t, set ^ 1)[i] = from[i];
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t i = warp / (kFrames / 16) * 8; i < t.n_ceps; i += kWarps / (kFrames / 16) * 8) {
      float sum[4] = {};
      make_cepstra(shared.dct + i / 8 * n_steps * kWarp, n_steps, shared.mel(t, set) + tile, sum);
      const uint32_t own = i + lane % 4 * 2;
      a.store(t, first_a, own, sum[0]);
      a.store(t, first_a, own + 1, sum[1]);
      b.store(t, first_b, own, sum[2]);
      b.store(t, first_b, own + 1, sum[3]);
    }
  }
  return in_place;
}

// Whether the jobs of two lanes want the same banks in the same order.
__device__ __forceinline__ bool same_banks(const MfccBatch &batch, const Lane &a, const Lane &b) {
  bool same = a.n_outputs == b.n_outputs && a.first_bank == b.first_bank;
  if (a.first_output == b.first_output) return true;
  for (uint32_t i = 1; same && i < a.n_outputs; ++i) {
    same = batch.outputs[a.first_output + i].warp == batch.outputs[b.first_output + i].warp;
  }
  return same;
}

__device__ __forceinline__ uint32_t first_of(uint64_t bits) { return __ffsll(static_cast<long long>(bits)) - 1; }

// A block takes one group of 64 frames after the other.
template <int kFull, int kRows>
__global__ void __launch_bounds__(kThreads, 2) mfcc_512_kernel(MfccTables t, MfccBatch batch) {
  extern __shared__ __align__(16) float memory[];
  __shared__ Lane both_lanes[2][kFrames];  // of this group and the next
  __shared__ float energy[kFrames];
  __shared__ uint32_t run_begins[kFrames / kWarp];  // a bit a lane
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
  if (threadIdx.x < kPitch) shared.power[(kPoints + 1) * kPitch + threadIdx.x] = 0;
  const uint32_t half = threadIdx.x / kHalf, j = threadIdx.x % kHalf, n_groups = (batch.n_lanes + kFrames - 1) / kFrames;
  const uint32_t n_lines = (min(t.shift_samples, t.window_samples) + 31) / 32;
  copy_fours(reinterpret_cast<float4 *>(shared.dct), reinterpret_cast<const float4 *>(t.dct_fragments), Shared::dct_fours(t));
  uint32_t set = 0, bank = t.n_warps;  // bank: number of the one in place 0; none at first
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
    const uint32_t n_lanes = min(kFrames, batch.n_lanes - group * kFrames);
    if (threadIdx.x < kFrames) {
      const uint32_t f = threadIdx.x;
      const bool begins = f == 0 || (f < n_lanes && !same_banks(batch, lanes[f - 1], lanes[f]));
      const uint32_t mask = __ballot_sync(kAll, begins);
      if (f % kWarp == 0) run_begins[f / kWarp] = mask;
    }
    // Zeros up to a multiple of 16 bands.
    for (uint32_t i = t.n_mel * kMelPitch + threadIdx.x; i < Shared::mel_steps(t) * 16 * kMelPitch; i += kThreads) {
      shared.mel(t, 0)[i] = shared.mel(t, 1)[i] = 0;
    }
    __syncthreads();
    for (uint64_t begins = run_begins[0] | uint64_t{run_begins[1]} << kWarp; begins != 0;) {
      const uint32_t first = first_of(begins);
      begins &= begins - 1;
      if (first > 0) __syncthreads();
      if (lanes[first].first_bank != bank) {
        copy_fours(shared.bank(t, 0), t.banks + size_t{lanes[first].first_bank} * t.bank_fours, t.bank_fours);
        __syncthreads();
      }
      bank = make_outputs(t, batch, shared, lanes, first, begins != 0 ? first_of(begins) : n_lanes, energy);
    }
  }
}

}  // namespace

size_t mfcc_512_shared_bytes(const MfccTables &t) { return Shared::n_bytes(t); }

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
