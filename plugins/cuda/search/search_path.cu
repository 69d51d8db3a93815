// SPDX-License-Identifier: Apache-2.0
// Best paths of channels that no search works on, a block each.
#include "plugins/cuda/search/search_path.cuh"

namespace asr::gpu {
namespace {

constexpr uint32_t kThreads = 1024;

__global__ void __launch_bounds__(kThreads) search_path_kernel(const SearchPathJob *jobs) {
  __shared__ PathFinding shared;
  block_find_path(jobs[blockIdx.x], shared);
}

}  // namespace

void launch_search_paths(const SearchPathJob *jobs, uint32_t n_jobs, cudaStream_t stream) {
  search_path_kernel<<<n_jobs, kThreads, 0, stream>>>(jobs);
}

}  // namespace asr::gpu
