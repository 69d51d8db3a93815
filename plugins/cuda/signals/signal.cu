// SPDX-License-Identifier: Apache-2.0
// The kernels of the fused step; plugins/gpu/signals/signal-inl.h has the equations. CMakeLists.txt compiles this file without
// contraction.
#include "plugins/cuda/signals/signal_launch.h"

#include "plugins/gpu/signals/signal-inl.h"

namespace asr::gpu {
namespace {

constexpr uint32_t kFrameThreads = 128, kRowThreads = 64;

__global__ void __launch_bounds__(kFrameThreads) signal_frames_kernel(const SignalTables t, const SignalBatch batch) {
  extern __shared__ double bands[];
  const SignalJob job = batch.jobs[blockIdx.x];
  const SignalState state = signal_state(&t.n, &job, batch.states, batch.wholes);
  float *const cepstra = batch.cepstra + job.first_value;
  if (t.n.removes_noise) {
    remove_noise(&t.n, &job, &state, t.noise_dct, cepstra, bands, bands + t.n.n_mel, kFrameThreads);
  }
  normalise_cepstra(&t.n, &job, &state, t.prior_mean, cepstra, kFrameThreads);
  make_levels(&t.n, &job, &state, t.slope, kFrameThreads);
  keep_transform(&t.n, &job, batch.given, batch.transforms, kFrameThreads);
}

__global__ void __launch_bounds__(kRowThreads) signal_rows_kernel(const SignalTables t, const SignalBatch batch) {
  extern __shared__ float values[];
  const SignalJob job = batch.jobs[blockIdx.x];
  if (blockIdx.y >= job.n_rows) return;
  const SignalState state = signal_state(&t.n, &job, batch.states, batch.wholes);
  float *const made = values + (t.n.has_transform ? t.n.n_values : 0);
  make_row(&t.n, &job, &state, t.tap_begin, t.taps, t.transform, batch.transforms, values, made, blockIdx.y, batch.rows,
           batch.plain, kRowThreads);
}

}  // namespace

size_t signal_frames_shared_bytes(const DynamicsNumbers &n) { return n.removes_noise ? 2 * n.n_mel * sizeof(double) : 0; }

size_t signal_rows_shared_bytes(const DynamicsNumbers &n) {
  return (n.n_dims + (n.has_transform ? n.n_values : 0)) * sizeof(float);
}

void launch_signal_frames(const SignalTables &t, const SignalBatch &batch, cudaStream_t stream) {
  signal_frames_kernel<<<batch.n_jobs, kFrameThreads, signal_frames_shared_bytes(t.n), stream>>>(t, batch);
}

void launch_signal_rows(const SignalTables &t, const SignalBatch &batch, cudaStream_t stream) {
  const dim3 grid(batch.n_jobs, batch.max_rows);
  signal_rows_kernel<<<grid, kRowThreads, signal_rows_shared_bytes(t.n), stream>>>(t, batch);
}

}  // namespace asr::gpu
