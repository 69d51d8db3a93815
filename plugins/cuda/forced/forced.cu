// SPDX-License-Identifier: Apache-2.0
// The kernel of the extension "forced"; plugins/gpu/forced/forced-inl.h has the equations.
#include "plugins/cuda/forced/forced_launch.h"

#include "plugins/gpu/forced/forced-inl.h"

namespace asr::gpu {
namespace {

__global__ void __launch_bounds__(kForcedThreads) forced_kernel(const __grid_constant__ ForcedTables t) {
  __shared__ LogSum sums[kForcedThreads];
  score_forced(&t, blockIdx.x, sums);
}

}  // namespace

void launch_forced(const ForcedArrays &a, cudaStream_t stream) {
  constexpr uint32_t kRows = kForcedThreads / kForcedLanes;
  forced_kernel<<<(a.n_rows + kRows - 1) / kRows, kForcedThreads, 0, stream>>>({a.codebooks, a.mixtures, a.dims, a.parameters,
                                                                                a.weights, a.rows, a.states, a.loglikes,
                                                                                a.n_streams, a.n_dims, a.n_rows});
}

}  // namespace asr::gpu
