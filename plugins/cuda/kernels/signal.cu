// SPDX-License-Identifier: Apache-2.0
// From the cepstra of new frames to rows that are scored: F6 (noise removal), F9 (live) and F10 of docs/equations.md.
//
// signal_frames: a block owns a signal and takes its new frames in their order; a thread has a mel band, then a cepstrum, with
// the running estimates of both in the signal's memory. Normalised cepstra go into the ring of the signal's last frames, then
// the levels above them, all frames of a level at once. signal_rows: a block owns a row; a thread sums the taps of a value,
// then a row of the transform. Cepstra may be log mel energies [n_mel]; layouts in plugins/common/kernels/signal_types.h.
//
// Accumulators are double, in the order of the host (core/feature), and this file is compiled without contraction: the same
// cepstra give the same rows bit for bit, but for an ulp of double in exp and log of noise removal. Reference: tests/reference
// noise_removed, live_normalised, dynamic. Floor: a frame of noise removal is a chain of n_mel double additions, about 1 us;
// the rest is 13 to 100 loads a value from L1.
#include "plugins/cuda/kernels/signal.h"

namespace asr::cuda {
namespace {

constexpr uint32_t kFrameThreads = 128, kRowThreads = 64;
constexpr double kMaxGain = 20, kPeakDecay = 0.85, kMaskedPeak = 0.2;
constexpr uint32_t kSmoothedBands = 4;  // to each side

// A signal's memory.
struct State {
  __device__ State(const DynamicsNumbers &n, double *memory)
      : mean(memory), sum(mean + n.n_ceps), count(sum + n.n_ceps), power(count + n.n_ceps) {
    const uint32_t n_bands = n.removes_noise ? n.n_mel : 0;
    noise = power + n_bands, floor = noise + n_bands, peak = floor + n_bands;
    levels = reinterpret_cast<float *>(peak + n_bands);
    n_ring = n.n_ring, n_columns = n.n_levels * n.n_ceps;
  }
  __device__ float *frame(uint32_t t) const { return levels + size_t{t % n_ring} * n_columns; }
  // Frame t, or the nearest of 0 ... last.
  __device__ const float *nearest(int64_t t, uint32_t last) const {
    return frame(static_cast<uint32_t>(t < 0 ? 0 : t < last ? t : last));
  }

  double *mean, *sum, *count, *power, *noise, *floor, *peak;
  float *levels;
  uint32_t n_ring, n_columns;
};

__device__ __forceinline__ double follow_lower_envelope(double value, double envelope) {
  const double keep = value >= envelope ? 0.995 : 0.5;
  return keep * envelope + (1 - keep) * value;
}

// F6: the gain of a band of energy e.
__device__ __forceinline__ double gain_of(double e, uint32_t m, bool is_first, const State &s) {
  double power = is_first ? e : s.power[m], noise = is_first ? e / kMaxGain : s.noise[m];
  double floor = is_first ? noise : s.floor[m], peak = is_first ? 0 : s.peak[m];
  power = 0.7 * power + 0.3 * e;
  noise = follow_lower_envelope(power, noise);
  const double unmasked = fmax(power - noise, 1.0);
  floor = follow_lower_envelope(unmasked, floor);
  peak *= kPeakDecay;
  const double signal = fmax(unmasked < kPeakDecay * peak ? kMaskedPeak * peak : unmasked, floor);
  peak = fmax(peak, unmasked);
  s.power[m] = power, s.noise[m] = noise, s.floor[m] = floor, s.peak[m] = peak;
  return signal < kMaxGain * power ? fmax(signal / power, 1 / kMaxGain) : kMaxGain;
}

// F6, F7: log mel energies become cepstra in their place. energy, gain: [n_mel], shared.
__device__ void remove_noise(const SignalTables &t, const SignalJob &job, const State &s, float *cepstra, double *energy,
                             double *gain) {
  const uint32_t n_mel = t.n.n_mel;
  for (uint32_t frame = 0; frame < job.n_frames; ++frame) {
    float *const row = cepstra + size_t{frame} * n_mel;
    for (uint32_t m = threadIdx.x; m < n_mel; m += kFrameThreads) {
      energy[m] = fmax(exp(double{row[m]}) - t.n.log_add, 0.0);
      gain[m] = gain_of(energy[m], m, job.begins && frame == 0, s);
    }
    __syncthreads();
    for (uint32_t m = threadIdx.x; m < n_mel; m += kFrameThreads) {
      const uint32_t first = m - min(m, kSmoothedBands), end = min(m + kSmoothedBands + 1, n_mel);
      double sum = 0;
      for (uint32_t k = first; k < end; ++k) sum += gain[k];
      energy[m] = log(fmax(energy[m] * (sum / (end - first)), double{t.n.log_floor}) + t.n.log_add);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < t.n.n_ceps; i += kFrameThreads) {
      double sum = 0;
      for (uint32_t m = 0; m < n_mel; ++m) sum += t.noise_dct[size_t{i} * n_mel + m] * energy[m];
      row[i] = static_cast<float>(sum);
    }
    __syncthreads();
  }
}

// F9: cepstra into level 0 of the ring.
__device__ void normalise(const SignalTables &t, const SignalJob &job, const State &s, const float *cepstra) {
  for (uint32_t i = threadIdx.x; i < t.n.n_ceps; i += kFrameThreads) {
    double mean = job.begins ? t.prior_mean[i] : s.mean[i], count = job.begins ? t.n.prior_frames : s.count[i];
    double sum = job.begins ? mean * t.n.prior_frames : s.sum[i];
    for (uint32_t frame = 0; frame < job.n_frames; ++frame) {
      const float *const row = cepstra + size_t{frame} * t.n.row_values;
      float value = row[i];
      if (job.live && (t.n.counted_cepstrum < 0 || row[t.n.counted_cepstrum] >= 0)) {
        sum += value;
        value = static_cast<float>(value - mean);
        if (++count > t.n.window_frames) {
          mean = sum / count;
          sum = mean * t.n.prior_frames;
          count = t.n.prior_frames;
        }
      }
      s.frame(job.first_frame + frame)[i] = value;
    }
    s.mean[i] = mean, s.sum[i] = sum, s.count[i] = count;
  }
}

// F10: the levels above the cepstra, as far as they can be told.
__device__ void make_levels(const SignalTables &t, const SignalJob &job, const State &s) {
  const uint32_t n_total = job.first_frame + job.n_frames, radius = t.n.n_slope / 2;
  for (uint32_t level = 1; level < t.n.n_levels; ++level) {
    __syncthreads();
    const uint32_t hidden = level * radius;  // newest frames that have no such level yet
    const uint32_t begin = job.ended ? n_total : job.first_frame - min(job.first_frame, hidden);
    const uint32_t end = job.ends ? n_total : n_total - min(n_total, hidden);
    for (uint32_t k = threadIdx.x; k < (end - begin) * t.n.n_ceps; k += kFrameThreads) {
      const uint32_t frame = begin + k / t.n.n_ceps, i = k % t.n.n_ceps;
      double sum = 0;
      for (uint32_t j = 0; j < t.n.n_slope; ++j) {
        const float *const below = s.nearest(int64_t{frame} + j - radius, n_total - 1) + (level - 1) * t.n.n_ceps;
        sum += double{t.slope[j]} * below[i];
      }
      s.frame(frame)[level * t.n.n_ceps + i] = static_cast<float>(sum);
    }
  }
}

__global__ void __launch_bounds__(kFrameThreads) signal_frames_kernel(const SignalTables t, const SignalBatch batch) {
  extern __shared__ double bands[];
  const SignalJob job = batch.jobs[blockIdx.x];
  const State state(t.n, batch.states + size_t{job.slot} * t.n.n_state_doubles);
  float *const cepstra = batch.cepstra + job.first_value;
  if (t.n.removes_noise) remove_noise(t, job, state, cepstra, bands, bands + t.n.n_mel);
  normalise(t, job, state, cepstra);
  make_levels(t, job, state);
}

__global__ void __launch_bounds__(kRowThreads) signal_rows_kernel(const SignalTables t, const SignalBatch batch) {
  extern __shared__ float values[];
  const SignalJob job = batch.jobs[blockIdx.x];
  if (blockIdx.y >= job.n_rows) return;
  const State state(t.n, batch.states + size_t{job.slot} * t.n.n_state_doubles);
  const uint32_t frame = job.first_row + blockIdx.y, last = job.first_frame + job.n_frames - 1;
  float *const row = batch.rows + size_t{job.to_row + blockIdx.y} * t.n.n_dims;
  float *const to = t.n.has_transform ? values : row;
  for (uint32_t i = threadIdx.x; i < t.n.n_values; i += kRowThreads) {
    double sum = 0;
    for (uint32_t k = t.tap_begin[i]; k < t.tap_begin[i + 1]; ++k) {
      const SignalTap tap = t.taps[k];
      sum += double{tap.weight} * state.nearest(int64_t{frame} + tap.offset, last)[tap.column];
    }
    to[i] = static_cast<float>(sum);
  }
  if (!t.n.has_transform) return;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < t.n.n_dims; i += kRowThreads) {
    double sum = t.n.transform_cols > t.n.n_values ? t.transform[size_t{t.n.n_values} * t.n.n_dims + i] : 0;
    for (uint32_t j = 0; j < t.n.n_values; ++j) sum += double{t.transform[size_t{j} * t.n.n_dims + i]} * values[j];
    row[i] = static_cast<float>(sum);
  }
}

}  // namespace

size_t signal_frames_shared_bytes(const DynamicsNumbers &n) { return n.removes_noise ? 2 * n.n_mel * sizeof(double) : 0; }

size_t signal_rows_shared_bytes(const DynamicsNumbers &n) { return n.has_transform ? n.n_values * sizeof(float) : 0; }

void launch_signal_frames(const SignalTables &t, const SignalBatch &batch, cudaStream_t stream) {
  signal_frames_kernel<<<batch.n_jobs, kFrameThreads, signal_frames_shared_bytes(t.n), stream>>>(t, batch);
}

void launch_signal_rows(const SignalTables &t, const SignalBatch &batch, cudaStream_t stream) {
  const dim3 grid(batch.n_jobs, batch.most_rows);
  signal_rows_kernel<<<grid, kRowThreads, signal_rows_shared_bytes(t.n), stream>>>(t, batch);
}

}  // namespace asr::cuda
