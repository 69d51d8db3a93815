// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md in one kernel, in float, for windows of 257 to 512 samples, such as 25 ms at 16 kHz.
// Double reference: reference/mfcc.cc, tolerance 1e-3 of a cepstrum.
//
// A block owns 32 frames, of any jobs; four blocks share a multiprocessor. Half a warp takes a frame from samples to its
// spectrum in registers: lane j has the pairs of samples j, j + 16, j + 32 ... as complex numbers, 16 of the 256. Two
// transforms of 16, with one exchange through shared memory between them, leave lane j the frequencies j, j + 16 ... The
// real spectrum needs frequencies k and 256 - k together, which are in lanes j and 16 - j. The spectrum goes to shared memory
// as a matrix, which tensor cores multiply with the filter bank tile by tile (plugins/gpu/features/mfcc_tiles.h). A warp has a
// share of the tiles and loads their weights from the L2 cache to registers. VTLN factors share all steps before the filter
// bank (Kou et al. 2013).
//   power[16][33 frames][8]    pairs of bins, high and low; no access meets a bank conflict
//   exchange[16][17] a frame   later the cosine transform and log bands
// Floors for an hour at 16 kHz: 230 MB of samples read, 19 MB written, 58 us at 4.3 TB/s. The spectrum takes 470
// instructions of a warp a frame, and their issue alone 180 us.
#include "plugins/cuda/features/mfcc_512_bank.cuh"
#include "plugins/cuda/features/mfcc_512_spectrum.cuh"
#include "plugins/cuda/features/mfcc_launch.h"
#include "plugins/cuda/features/mfcc_stages.cuh"
#include "plugins/cuda/runtime/tensor.cuh"
#include "plugins/gpu/features/mfcc_tiles.h"

namespace asr::gpu {
namespace {

using namespace mfcc_512;

constexpr uint32_t kFrames = 32;
constexpr uint32_t kChunks = kPoints / 16, kPairs = 8;    // shape of the power spectra: plugins/gpu/features/mfcc_tiles.h
constexpr uint32_t kChunkPairs = (kFrames + 1) * kPairs;  // pairs of all frames and one of padding

struct Shared {
  uint2 *power;                    // [kChunks][kFrames + 1][kPairs], high and low
  float2 *window, *real_twiddles;  // window: halved, which makes the spectrum's halves of sums
  float2 *exchange;                // and later over it the cosine transform and log bands
  __device__ __forceinline__ explicit Shared(float *memory)
      : power(reinterpret_cast<uint2 *>(memory)),
        window(reinterpret_cast<float2 *>(power + kChunks * kChunkPairs)),
        real_twiddles(window + kPoints),
        exchange(real_twiddles + kPoints / 2) {}
  static __host__ __device__ uint32_t mel_steps(const MfccTables &t) { return mfcc_n_tiles(t.n_mel) / 2; }
  static __host__ __device__ uint32_t dct_fours(const MfccTables &t) { return (t.n_ceps + 7) / 8 * mel_steps(t) * kWarp; }
  static __host__ __device__ size_t n_bytes(const MfccTables &t) {
    const size_t fixed = (kChunks * kChunkPairs + kPoints + kPoints / 2) * sizeof(float2);
    const size_t spectra = kThreads / kHalf * kExchange * sizeof(float2);
    const size_t outputs = dct_fours(t) * sizeof(uint4) + mfcc_n_tiles(t.n_mel) * kFrames * 4 * sizeof(uint2);
    return fixed + (spectra > outputs ? spectra : outputs);
  }
  __device__ __forceinline__ uint4 *dct() const { return reinterpret_cast<uint4 *>(exchange); }
  // [tile][kFrames][4], of two bands each, high and low.
  __device__ __forceinline__ uint2 *mel(const MfccTables &t) const { return reinterpret_cast<uint2 *>(dct() + dct_fours(t)); }
};

__device__ __forceinline__ float binary_logarithm(float v) {
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}

constexpr uint32_t kBlocks = 4;       // blocks of a multiprocessor
constexpr uint32_t kChunksAhead = 4;  // chunks of a bank whose weights are being loaded

// Stores the spectrum of frame f as pairs of bins, 16 apart.
__device__ __forceinline__ void store_spectrum(const Shared &shared, uint32_t j, uint32_t f, const float (&power)[kHalf]) {
#pragma unroll
  for (uint32_t r = 0; r < kHalf; r += 2) {
    const uint32_t place = place_of(r, j);
    uint2 pair;
    split_brain(power[r], power[r + 1], &pair.x, &pair.y);
    shared.power[(r + place / kPairs) * kChunkPairs + f * kPairs + place % kPairs] = pair;
  }
}

// Computes F5 and F6 under a bank, for this warp's tiles. Results are base-2 logarithms as sums of halves; the cosine transform
// makes them natural ones. Rows 0 ... 7 of a product are the high parts of 8 frames, rows 8 ... 15 their low parts.
__device__ __forceinline__ void make_log_mel(const MfccTables &t, const uint4 *bank, const uint4 *head, const Shared &shared) {
  const uint32_t warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const MfccParts &parts = *reinterpret_cast<const MfccParts *>(head + Shared::mel_steps(t));
  uint2 *const mel = shared.mel(t) + lane;
#pragma unroll 1
  for (uint32_t i = parts.first_tile[warp]; i < parts.first_tile[warp + 1]; ++i) {
    const MfccTile tile = reinterpret_cast<const MfccTile *>(head)[i];
    const uint4 *weights = bank + tile.first_four + lane;
    const uint4 *pairs = reinterpret_cast<const uint4 *>(shared.power + tile.first_chunk * kChunkPairs) + lane;
    float sums[kFrames / 8][4] = {};
#pragma unroll 1
    for (uint32_t n = tile.n_chunks; n > 0; n -= min(n, kChunksAhead)) {
      uint4 w[kChunksAhead];
#pragma unroll
      for (uint32_t k = 0; k < kChunksAhead; ++k) {
        if (k < n) w[k] = __ldg(weights + k * kWarp);
      }
#pragma unroll
      for (uint32_t k = 0; k < kChunksAhead; ++k) {
        if (k >= n) break;
#pragma unroll
        for (uint32_t f = 0; f < kFrames / 8; ++f) {
          const uint4 a = pairs[k * (kChunkPairs / 2) + f * kWarp];
          multiply_brain(sums[f], a, w[k].z, w[k].w);
          multiply_brain(sums[f], a, w[k].x, w[k].y);
        }
      }
      weights += kChunksAhead * kWarp, pairs += kChunksAhead * (kChunkPairs / 2);
    }
#pragma unroll
    for (uint32_t f = 0; f < kFrames / 8; ++f) {
      const float first = sums[f][0] + sums[f][2], second = sums[f][1] + sums[f][3];
      uint2 logs;
      split({binary_logarithm(fmaxf(first, t.log_floor) + t.log_add), binary_logarithm(fmaxf(second, t.log_floor) + t.log_add)},
            &logs.x, &logs.y);
      mel[i * kFrames * 4 + f * kWarp] = logs;
    }
  }
}

// Computes F7 and F8 of 16 frames and 8 cepstra from log bands mel[tile][kFrames][4]. Both factors are halves; the product is
// exact to 2^-22 of itself, and its rows are those of make_log_mel. sum: of frames lane / 4 and + 8.
__device__ __forceinline__ void make_cepstra(const uint4 *dct, uint32_t n_steps, const uint2 *mel, float2 (&sum)[2]) {
  const uint32_t lane = threadIdx.x % kWarp;
  float sums[2][4] = {};
#pragma unroll 2
  for (uint32_t step = 0; step < n_steps; ++step, mel += 2 * kFrames * 4) {
    const uint4 b = dct[step * kWarp + lane];
#pragma unroll
    for (uint32_t f = 0; f < 2; ++f) {
      const uint2 low_bands = mel[f * kWarp + lane], high_bands = mel[kFrames * 4 + f * kWarp + lane];
      const uint32_t a[4] = {low_bands.x, low_bands.y, high_bands.x, high_bands.y};
      multiply(sums[f], a, b.z, b.w);
      multiply(sums[f], a, b.x, b.y);
    }
  }
#pragma unroll
  for (uint32_t f = 0; f < 2; ++f) sum[f] = {sums[f][0] + sums[f][2], sums[f][1] + sums[f][3]};
}

// OwnFrame is one of the frames whose cepstra a lane stores.
struct OwnFrame {
  const MfccOutput *outputs;  // NULL: the run lacks this frame
  float *to;                  // address of an output at first_value 0
  float log_energy;
  __device__ __forceinline__ OwnFrame(const MfccTables &t, const MfccBatch &batch, const Lane &lane, bool in_run, float energy)
      : outputs(in_run ? batch.outputs + lane.first_output : nullptr),
        to(batch.cepstra + size_t{lane.row} * t.n_ceps),
        log_energy(t.energy_row >= 0 ? log_of_energy(energy, t.log_floor) : 0) {}
  // Stores cepstra i and i + 1.
  __device__ __forceinline__ void store(const MfccTables &t, uint64_t first_value, uint32_t i, float2 values) const {
    if (outputs == nullptr) return;
    float *const own = to + first_value + i;
    if (i < t.n_ceps) own[0] = static_cast<int32_t>(i) == t.energy_row ? log_energy : values.x;
    if (i + 1 < t.n_ceps) own[1] = static_cast<int32_t>(i + 1) == t.energy_row ? log_energy : values.y;
  }
};

// Makes the outputs of a run, lanes first ... end - 1, from their spectra. All are under the same banks, and shared memory has
// the head of the first bank.
__device__ __forceinline__ void make_outputs(const MfccTables &t, const MfccBatch &batch, const Shared &shared,
                                             const Lane *lanes, uint32_t first, uint32_t end, const float *energy,
                                             uint4 *head) {
  const uint32_t warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, n_steps = Shared::mel_steps(t);
  const uint32_t tile = warp % (kFrames / 16) * 16, frame = tile + lane / 4;
  const OwnFrame a(t, batch, lanes[frame], frame >= first && frame < end, energy[frame]),
      b(t, batch, lanes[frame + 8], frame + 8 >= first && frame + 8 < end, energy[frame + 8]);
  const MfccOutput *const outputs = batch.outputs + lanes[first].first_output;
  const uint32_t last = lanes[first].n_outputs - 1;
  const uint4 *bank = t.banks + size_t{lanes[first].first_bank} * t.bank_fours;
  uint32_t next = outputs[min(1u, last)].warp;
#pragma unroll 1
  for (uint32_t output = 0; output <= last; ++output) {
    const uint4 *const next_bank = t.banks + size_t{next} * t.bank_fours;
    uint4 kept = {};
    if (threadIdx.x < n_steps + 1) kept = __ldg(next_bank + threadIdx.x);  // under way while bands are summed
    next = outputs[min(output + 2, last)].warp;
    const uint64_t first_a = a.outputs != nullptr ? a.outputs[output].first_value : 0,
                   first_b = b.outputs != nullptr ? b.outputs[output].first_value : 0;
    make_log_mel(t, bank, head, shared);
    wait_copies<0>();
    __syncthreads();
    if (threadIdx.x < n_steps + 1) head[threadIdx.x] = kept;
#pragma unroll 1
    for (uint32_t i = warp / (kFrames / 16) * 8; i < t.n_ceps; i += kWarps / (kFrames / 16) * 8) {
      float2 sum[2];
      make_cepstra(shared.dct() + i / 8 * n_steps * kWarp, n_steps, shared.mel(t) + tile * 4, sum);
      a.store(t, first_a, i + lane % 4 * 2, sum[0]);
      b.store(t, first_b, i + lane % 4 * 2, sum[1]);
    }
    if (output < last) __syncthreads();
    bank = next_bank;
  }
}

// Starts to copy the head of a bank to shared memory; wait_copies() completes the copy.
__device__ __forceinline__ void load_head(const MfccTables &t, uint32_t bank, uint4 *head) {
  const uint32_t i = threadIdx.x;
  if (i < Shared::mel_steps(t) + 1) copy_16(head + i, t.banks + size_t{bank} * t.bank_fours + i);
  commit_copies();
}

// Returns true if the jobs of two lanes want the same banks in the same order.
__device__ __forceinline__ bool same_banks(const MfccBatch &batch, const Lane &a, const Lane &b) {
  bool same = a.n_outputs == b.n_outputs && a.first_bank == b.first_bank;
  if (a.first_output == b.first_output) return true;
  for (uint32_t i = 1; same && i < a.n_outputs; ++i) {
    same = batch.outputs[a.first_output + i].warp == batch.outputs[b.first_output + i].warp;
  }
  return same;
}

// Returns, in each warp, a mask of the lanes at which runs with the same banks begin.
__device__ __forceinline__ uint32_t find_runs(const MfccBatch &batch, const Lane *lanes, uint32_t n_lanes) {
  const uint32_t f = threadIdx.x % kWarp;
  return __ballot_sync(kAll, f == 0 || (f < n_lanes && !same_banks(batch, lanes[f - 1], lanes[f])));
}

// A block takes one group of 32 frames after the other.
template <int kFull, int kRows>
__global__ void __launch_bounds__(kThreads, kBlocks) mfcc_512_kernel(MfccTables t, MfccBatch batch) {
  extern __shared__ __align__(16) float memory[];
  __shared__ Lane both_lanes[2][kFrames];  // lanes of this group and the next
  __shared__ float energy[kFrames];
  __shared__ uint4 head[kMfcc512HeadFours];
  const Shared shared(memory);
  // Lanes beyond the last frame repeat it and are not stored.
  const auto find_lanes = [&](uint32_t group, Lane *lanes) {
    if (threadIdx.x < kFrames) lanes[threadIdx.x] = find_lane(t, batch, min(group * kFrames + threadIdx.x, batch.n_lanes - 1));
  };
  find_lanes(blockIdx.x, both_lanes[0]);
  for (uint32_t i = threadIdx.x; i < 2 * kPoints; i += kThreads) {
    reinterpret_cast<float *>(shared.window)[i] = i < t.window_samples ? 0.5f * t.window[i] : 0;
  }
  if (threadIdx.x < kPoints / 2) shared.real_twiddles[threadIdx.x] = t.real_twiddles[threadIdx.x];
  const uint32_t half = threadIdx.x / kHalf, j = threadIdx.x % kHalf, n_groups = (batch.n_lanes + kFrames - 1) / kFrames;
  const uint32_t n_lines = (min(t.shift_samples, t.window_samples) + 31) / 32;
  uint32_t set = 0;
#pragma unroll 1
  for (uint32_t group = blockIdx.x; group < n_groups; group += gridDim.x, set ^= 1) {
    const Lane *const lanes = both_lanes[set];
    float2 twiddles[kHalf];  // row j of the symmetric table
#pragma unroll
    for (int r = 0; r < kHalf; ++r) twiddles[r] = t.twiddles[r * kHalf + j];
    __syncthreads();
    load_head(t, lanes[0].first_bank, head);
    if (group + gridDim.x < n_groups) find_lanes(group + gridDim.x, both_lanes[set ^ 1]);
#pragma unroll 1
    for (uint32_t f = half; f < kFrames; f += kThreads / kHalf) {
      float2 x[kHalf];
      load_samples<kFull, kRows>(t, lanes[f], j, x);
      const float frame_energy = make_frame<kFull, kRows>(t, lanes[f], shared.window, j, x);
      if (j == 0) energy[f] = frame_energy;
      fourier_transform<kRows>(twiddles, shared.exchange + half * kExchange, j, x);
      float power[kHalf];
      make_spectrum(t, shared.real_twiddles, j, x, power);
      store_spectrum(shared, j, f, power);
    }
    wait_copies<0>();
    __syncthreads();
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < Shared::dct_fours(t); i += kThreads) copy_16(shared.dct() + i, t.dct_fragments + i);
    commit_copies();
    if (group + gridDim.x < n_groups) {
      const float *const next_samples = both_lanes[set ^ 1][threadIdx.x % kFrames].samples;
#pragma unroll 1
      for (uint32_t line = threadIdx.x / kFrames; line < n_lines; line += kThreads / kFrames)
        prefetch(next_samples + line * 32);
    }
    const uint32_t n_lanes = min(kFrames, batch.n_lanes - group * kFrames);
    for (uint32_t begins = find_runs(batch, lanes, n_lanes), first = 0; begins != 0;) {
      begins &= begins - 1;
      const uint32_t end = begins != 0 ? __ffs(static_cast<int>(begins)) - 1 : n_lanes;
      if (first > 0) {
        load_head(t, lanes[first].first_bank, head);
        wait_copies<0>();
        __syncthreads();
      }
      make_outputs(t, batch, shared, lanes, first, end, energy, head);
      first = end;
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
  const uint32_t n_groups = (batch.n_lanes + kFrames - 1) / kFrames, n_at_once = kBlocks * n_multiprocessors;
  const uint32_t n_blocks = n_groups < n_at_once ? n_groups : n_at_once;
  const bool usual = t.window_samples >= 12 * 2 * kHalf && t.window_samples <= 13 * 2 * kHalf;
  const auto kernel = usual ? mfcc_512_kernel<12, 13> : mfcc_512_kernel<0, 16>;
  kernel<<<n_blocks, kThreads, mfcc_512_shared_bytes(t), stream>>>(t, batch);
}

}  // namespace asr::gpu
