// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels of mfcc_512_sums.cuh.
#include "plugins/cuda/features/mfcc_512_sums.cuh"

namespace asr::gpu {
namespace {

using namespace mfcc_512_sums;

template <int kFull, int kRows, int kSteps, bool kGains>
__global__ void __launch_bounds__(kThreads, kBlocks)
    mfcc_512_sums_kernel(MfccTables t, MfccBatch batch, MfccSumsTables tables) {
  __shared__ Memory memory;
  extract<kFull, kRows, kSteps, kGains>(t, batch, tables, memory);
}

using Kernel = void (*)(MfccTables, MfccBatch, MfccSumsTables);

template <int kFull, int kRows>
Kernel choose(const MfccSumsTables &tables) {
  const bool has_gains = tables.gains != nullptr;
  if (tables.n_steps == 3)
    return has_gains ? mfcc_512_sums_kernel<kFull, kRows, 3, true> : mfcc_512_sums_kernel<kFull, kRows, 3, false>;
  return has_gains ? mfcc_512_sums_kernel<kFull, kRows, kSumsMostSteps, true>
                   : mfcc_512_sums_kernel<kFull, kRows, kSumsMostSteps, false>;
}

Kernel choose(const MfccTables &t, const MfccSumsTables &tables) {
  const bool usual = t.window_samples >= 12 * 2 * kHalf && t.window_samples <= 13 * 2 * kHalf;
  return usual ? choose<12, 13>(tables) : choose<0, 16>(tables);
}

}  // namespace

cudaError_t mfcc_512_sums_blocks(const MfccTables &t, const MfccSumsTables &tables, uint32_t *n_blocks) {
  int n = 0;
  const cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, choose(t, tables), kThreads, 0);
  *n_blocks = static_cast<uint32_t>(n);
  return status;
}

void launch_mfcc_512_sums(const MfccTables &t, const MfccSumsTables &tables, const MfccBatch &batch, uint32_t n_at_once,
                          cudaStream_t stream) {
  const uint32_t n_groups = (batch.n_lanes + kFrames - 1) / kFrames, n_blocks = n_groups < n_at_once ? n_groups : n_at_once;
  choose(t, tables)<<<n_blocks, kThreads, 0, stream>>>(t, batch, tables);
}

}  // namespace asr::gpu
