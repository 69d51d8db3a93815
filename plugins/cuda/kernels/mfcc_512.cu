// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md in one kernel, in float, for windows of 257 to 512 samples, such as 25 ms at 16 kHz; double
// reference tests/reference/mfcc.cc, tolerance 1e-3 of a cepstrum.
//
// A block owns 64 frames, of any jobs. Half a warp takes a frame from samples to its spectrum in registers: lane j has the
// pairs of samples j, j + 16, j + 32 ... as complex numbers, 16 of the 256. Two transforms of 16, with one exchange through
// shared memory between them, leave lane j the frequencies j, j + 16 ...; those that the real spectrum needs together (k and
// 256 - k) are in lanes j and 16 - j. The spectrum goes to shared memory as rows of frames; from there a lane has two frames,
// and weights are the same for all lanes of a warp. Many VTLN factors share all before the filter bank (paper 004).
//   power[k][64 frames], pitch 66     no access meets a bank conflict
//   exchange[16][17] a frame; later log bands and cepstra, two sets in turn, so that one barrier a filter bank is enough
// Floors for an hour at 16 kHz: 230 MB of samples read, 19 MB written, 58 us at 4.3 TB/s; about 470 instructions of a warp a
// frame, 180 us if all are issued; shared memory moves 100 words of 32 lanes a frame, about as long.
#include "core/backend/asr_backend.h"
#include "plugins/cuda/kernels/fft.cuh"
#include "plugins/cuda/kernels/mfcc.h"
#include "plugins/cuda/kernels/mfcc_stages.cuh"

namespace asr::cuda {
namespace {

constexpr uint32_t kThreads = 256, kWarp = 32, kWarps = kThreads / kWarp, kFrames = 64, kAll = 0xffffffffu;
constexpr uint32_t kPoints = 256, kHalf = 16;                      // complex numbers; lanes of a frame
constexpr uint32_t kPairs = kFrames / 2 + 1, kPitch = 2 * kPairs;  // of a row of frames, in pairs and in floats
constexpr uint32_t kBins = kPoints + 4;              // those above 256 stay zero, under a band's last zero weights
constexpr uint32_t kExchange = kHalf * (kHalf + 1);  // float2 a frame

struct Shared {
  float *power;
  float2 *window, *real_twiddles, *exchange;  // window: halved, which makes the spectrum's halves of sums
  uint32_t mel_pairs, cepstra_floats;         // of one set
  __device__ __forceinline__ Shared(const MfccTables &t, float *memory)
      : power(memory),
        window(reinterpret_cast<float2 *>(power + kBins * kPitch)),
        real_twiddles(window + kPoints),
        exchange(real_twiddles + kPoints / 2),
        mel_pairs(t.n_mel_padded * kPairs),
        cepstra_floats(kFrames * t.n_ceps) {}
  __device__ __forceinline__ float2 *mel(uint32_t set) const { return exchange + set * mel_pairs; }
  __device__ __forceinline__ float *cepstra(uint32_t set) const {
    return reinterpret_cast<float *>(exchange + 2 * mel_pairs) + set * cepstra_floats;
  }
};

__device__ __forceinline__ float half_warp_sum(float value) {
  for (int offset = kHalf / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kAll, value, offset);
  return value;
}

// F2 of lane j: x[r] are samples 2 (j + 16 r) and the next; the first kFull rows r lie in the window, those from kRows on
// beyond. Returns the frame's energy if it is wanted.
template <int kFull, int kRows>
__device__ __forceinline__ float make_frame(const MfccTables &t, const Lane &lane, const Shared &shared, uint32_t j,
                                            float2 (&x)[kHalf]) {
  const uint32_t n_samples = t.window_samples;
  const float2 *const pairs = reinterpret_cast<const float2 *>(lane.samples) + j;
  const auto inside = [&](int r, uint32_t i) { return r < kFull || 2 * (j + kHalf * r) + i < n_samples; };
  float total = 0;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    x[r] = inside(r, 0) ? pairs[r * kHalf] : float2{0, 0};
    if (!inside(r, 1)) x[r].y = 0;
    total += x[r].x + x[r].y;
  }
  const float before = lane.samples[t.preemphasis_in_frame ? 0 : -1], a = t.preemphasis;
  float offset = 0, offset_after = 0;
  if (t.dc_removal != ASR_DC_KEEP) {
    const float per_sample = 1.0f / static_cast<float>(n_samples);
    total = half_warp_sum(total);
    if (t.dc_removal == ASR_DC_BEFORE_PREEMPHASIS)
      offset = total * per_sample;
    else
      offset_after = (total - a * (total - lane.samples[n_samples - 1] + before)) * per_sample;
  }
  float energy = 0;
  if (t.energy_row >= 0 && !t.energy_windowed) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float2 now = {inside(r, 0) ? x[r].x - offset : 0, inside(r, 1) ? x[r].y - offset : 0};
      energy += now.x * now.x + now.y * now.y;
    }
  }
  const float constant = offset - a * offset + offset_after;
  float carried = before;  // what lane 0 has before its pair: the last sample of lane 15 in the row above
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float neighbour = __shfl_sync(kAll, x[r].y, j + kHalf - 1, kHalf);
    const float previous = j > 0 ? neighbour : carried;
    carried = neighbour;
    const float2 w = shared.window[j + kHalf * r];
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

// The transform of a frame's 256 complex numbers: x[r] of lane j goes from number j + 16 r to frequency j + 16 r.
__device__ __forceinline__ void fourier_transform(const float2 (&twiddles)[kHalf], float2 *exchange, uint32_t j,
                                                  float2 (&x)[kHalf]) {
  transform(x);
  exchange[j] = x[0];
#pragma unroll
  for (uint32_t r = 1; r < kHalf; ++r) exchange[r * (kHalf + 1) + j] = x[r] * twiddles[r];
  __syncwarp();
#pragma unroll
  for (uint32_t r = 0; r < kHalf; ++r) x[r] = exchange[j * (kHalf + 1) + r];
  __syncwarp();
  transform(x);
}

// F3 from the transform Z: even and odd samples have the transforms E = (Z[k] + conj Z[256-k]) / 2 and O = (Z[k] - conj
// Z[256-k]) / 2i, and the frame X[k] = E + w^k O, X[256-k] = conj(E - w^k O). The halves are in Z already.
__device__ __forceinline__ void make_spectrum(const MfccTables &t, const Shared &shared, uint32_t j, uint32_t f,
                                              const float2 (&z)[kHalf]) {
  float power[kHalf];
#pragma unroll
  for (uint32_t r = 0; r < kHalf / 2; ++r) {
    const uint32_t other = (kHalf - j) % kHalf;
    float2 b = {__shfl_sync(kAll, z[kHalf - 1 - r].x, other, kHalf), __shfl_sync(kAll, z[kHalf - 1 - r].y, other, kHalf)};
    if (j == 0) b = z[(kHalf - r) % kHalf];
    const float2 even = {z[r].x + b.x, z[r].y - b.y}, odd = {z[r].y + b.y, b.x - z[r].x};
    const float2 turned = odd * shared.real_twiddles[j + kHalf * r], low = even + turned, high = even - turned;
    power[r] = low.x * low.x + low.y * low.y;
    power[kHalf - 1 - r] = high.x * high.x + high.y * high.y;
  }
  float middle = 4 * (z[kHalf / 2].x * z[kHalf / 2].x + z[kHalf / 2].y * z[kHalf / 2].y);
  if (t.magnitude) {
#pragma unroll
    for (uint32_t r = 0; r < kHalf; ++r) power[r] = square_root(power[r]);
    middle = square_root(middle);
  }
  float *const low = shared.power + j * kPitch + f, *const high = shared.power + (kPoints - j) * kPitch + f;
#pragma unroll
  for (uint32_t r = 0; r < kHalf / 2; ++r) {
    low[r * kHalf * kPitch] = power[r];
    high[-static_cast<int>(r * kHalf * kPitch)] = power[kHalf - 1 - r];
  }
  if (j == 0) shared.power[kPoints / 2 * kPitch + f] = middle;
}

// F5, F6 of this lane's two frames, under filter banks a and b, which are the same but where jobs meet.
__device__ __forceinline__ void make_log_mel(const MfccTables &t, uint32_t a, uint32_t b, const Shared &shared, uint32_t set) {
  const uint32_t pair = threadIdx.x % kWarp;
  const float2 *const column = reinterpret_cast<const float2 *>(shared.power) + pair;
  float2 *const mel = shared.mel(set) + pair;
  for (uint32_t m = threadIdx.x / kWarp; m < t.n_mel_padded; m += kWarps) {
    float2 value = {0, 0};
    if (m < t.n_mel) {
      value = band_energy(t, t.bands[size_t{a} * t.n_mel + m], column, kPairs);
      if (b != a) value.y = band_energy(t, t.bands[size_t{b} * t.n_mel + m], column, kPairs).y;
      value = logarithm(t, value);
    }
    mel[m * kPairs] = value;
  }
}

// F7, F8 of this lane's two frames: cepstra[f][i], as they will lie in the output.
__device__ __forceinline__ void make_cepstra(const MfccTables &t, const float *energy, const Shared &shared, uint32_t set) {
  const uint32_t pair = threadIdx.x % kWarp;
  float *const cepstra = shared.cepstra(set) + 2 * pair * t.n_ceps;
  const auto store = [&](uint32_t c, float2 sum) {
    if (static_cast<int32_t>(c) == t.energy_row) {
      sum = {__logf(fmaxf(energy[2 * pair], t.log_floor)), __logf(fmaxf(energy[2 * pair + 1], t.log_floor))};
    }
    cepstra[c] = sum.x, cepstra[t.n_ceps + c] = sum.y;
  };
  for (uint32_t i = threadIdx.x / kWarp; i < t.n_ceps; i += 2 * kWarps) {
    float2 sum_a, sum_b;
    cosine_sums(t, i, min(i + kWarps, t.n_ceps - 1), shared.mel(set) + pair, kPairs, &sum_a, &sum_b);
    store(i, sum_a);
    if (i + kWarps < t.n_ceps) store(i + kWarps, sum_b);
  }
}

template <int kFull, int kRows>
__global__ void __launch_bounds__(kThreads, 2) mfcc_512_kernel(MfccTables t, MfccBatch batch) {
  extern __shared__ __align__(16) float memory[];
  __shared__ Lane lanes[kFrames];
  __shared__ float energy[kFrames];
  const Shared shared(t, memory);
  const uint32_t first_lane = blockIdx.x * kFrames, n_lanes = min(kFrames, batch.n_lanes - first_lane);
  // Lanes beyond the last frame repeat it and are not stored.
  if (threadIdx.x < kFrames) lanes[threadIdx.x] = find_lane(t, batch, first_lane + min(threadIdx.x, n_lanes - 1));
  for (uint32_t i = threadIdx.x; i < 2 * kPoints; i += kThreads) {
    reinterpret_cast<float *>(shared.window)[i] = i < t.window_samples ? 0.5f * t.window[i] : 0;
  }
  if (threadIdx.x < kPoints / 2) shared.real_twiddles[threadIdx.x] = t.real_twiddles[threadIdx.x];
  if (threadIdx.x < 3 * kPitch) shared.power[(kPoints + 1) * kPitch + threadIdx.x] = 0;
  const uint32_t half = threadIdx.x / kHalf, j = threadIdx.x % kHalf;
  float2 twiddles[kHalf];
#pragma unroll
  for (uint32_t r = 0; r < kHalf; ++r) twiddles[r] = t.twiddles[j * kHalf + r];
  __syncthreads();
  for (uint32_t f = half; f < kFrames; f += kThreads / kHalf) {
    float2 x[kHalf];
    const float frame_energy = make_frame<kFull, kRows>(t, lanes[f], shared, j, x);
    if (j == 0) energy[f] = frame_energy;
    fourier_transform(twiddles, shared.exchange + half * kExchange, j, x);
    make_spectrum(t, shared, j, f, x);
  }
  __syncthreads();

  uint32_t n_outputs = 0;
  for (uint32_t f = 0; f < n_lanes; ++f) n_outputs = max(n_outputs, lanes[f].n_outputs);
  const auto bank_of = [&](uint32_t f, uint32_t output) {
    return batch.outputs[lanes[f].first_output + min(output, lanes[f].n_outputs - 1)].warp;
  };
  const uint32_t pair = threadIdx.x % kWarp, stored = threadIdx.x / (kThreads / kFrames);  // the frame that this thread stores
  const auto store = [&](uint32_t output) {
    if (stored >= n_lanes || output >= lanes[stored].n_outputs) return;
    float *const to =
        batch.cepstra + batch.outputs[lanes[stored].first_output + output].first_value + size_t{lanes[stored].row} * t.n_ceps;
    const float *const from = shared.cepstra(output % 2) + stored * t.n_ceps;
    for (uint32_t i = threadIdx.x % (kThreads / kFrames); i < t.n_ceps; i += kThreads / kFrames) to[i] = from[i];
  };
  for (uint32_t output = 0; output < n_outputs; ++output) {
    make_log_mel(t, bank_of(2 * pair, output), bank_of(2 * pair + 1, output), shared, output % 2);
    __syncthreads();
    if (output > 0) store(output - 1);
    make_cepstra(t, energy, shared, output % 2);
  }
  __syncthreads();
  store(n_outputs - 1);
}

}  // namespace

size_t mfcc_512_shared_bytes(const MfccTables &t) {
  const size_t fixed = kBins * kPitch * sizeof(float) + (kPoints + kPoints / 2) * sizeof(float2);
  const size_t exchange = kThreads / kHalf * kExchange * sizeof(float2);
  const size_t outputs = 2 * (t.n_mel_padded * kPairs * sizeof(float2) + kFrames * t.n_ceps * sizeof(float));
  return fixed + (exchange > outputs ? exchange : outputs);
}

cudaError_t mfcc_512_prepare(size_t shared_bytes) {
  const auto bytes = static_cast<int>(shared_bytes);
  const cudaError_t status = cudaFuncSetAttribute(mfcc_512_kernel<12, 13>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  return cudaFuncSetAttribute(mfcc_512_kernel<0, 16>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

void launch_mfcc_512(const MfccTables &t, const MfccBatch &batch, cudaStream_t stream) {
  const uint32_t n_blocks = (batch.n_lanes + kFrames - 1) / kFrames;
  const bool usual = t.window_samples >= 12 * 2 * kHalf && t.window_samples <= 13 * 2 * kHalf;
  const auto kernel = usual ? mfcc_512_kernel<12, 13> : mfcc_512_kernel<0, 16>;
  kernel<<<n_blocks, kThreads, mfcc_512_shared_bytes(t), stream>>>(t, batch);
}

}  // namespace asr::cuda
