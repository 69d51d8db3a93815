// SPDX-License-Identifier: Apache-2.0
// F11 behind mfcc.cu: a thread turns the levels of a row into its cepstra (plugins/common/mfcc_plp-inl.h). Its arrays of up
// to 65 numbers are in local memory, of which only the first lpc_order + 1 are used and cached.
#include "plugins/cuda/features/mfcc_launch.h"

namespace asr::gpu {
namespace {

constexpr uint32_t kThreads = 128;

__global__ void __launch_bounds__(kThreads) plp_outputs_kernel(PlpBatch batch) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= batch.n_outputs) return;
  const MfccOutput output = batch.outputs[i];
  batch.level_outputs[i] = {output.first_value / batch.numbers.n_ceps * batch.numbers.n_levels, output.warp};
}

__global__ void __launch_bounds__(kThreads) plp_kernel(PlpBatch batch) {
  const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= batch.n_rows) return;
  const PlpNumbers &n = batch.numbers;
  const uint64_t first_value = uint64_t{row} * n.n_ceps;
  uint32_t low = 0, high = batch.n_outputs;  // the last output that begins at the row or before it
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (batch.outputs[middle].first_value <= first_value ? low : high) = middle;
  }
  plp_frame(&n, batch.loudness + size_t{batch.outputs[low].warp} * n.n_mel, batch.autocorrelation, batch.weights,
            batch.levels + uint64_t{row} * n.n_levels, batch.cepstra + first_value);
}

}  // namespace

void launch_plp_outputs(const PlpBatch &batch, cudaStream_t stream) {
  plp_outputs_kernel<<<(batch.n_outputs + kThreads - 1) / kThreads, kThreads, 0, stream>>>(batch);
}

void launch_plp(const PlpBatch &batch, cudaStream_t stream) {
  plp_kernel<<<(batch.n_rows + kThreads - 1) / kThreads, kThreads, 0, stream>>>(batch);
}

}  // namespace asr::gpu
