// SPDX-License-Identifier: Apache-2.0
// The kernel of the extension "given"; plugins/gpu/given/given-inl.h has the equations. A block has a row of a job.
#include "plugins/cuda/given/given_launch.h"

#include "plugins/gpu/given/given-inl.h"

namespace asr::gpu {
namespace {

__global__ void __launch_bounds__(kGivenThreads) given_kernel(const __grid_constant__ GivenTables t, const GivenJob *jobs) {
  __shared__ uint32_t found[2];
  const GivenJob job = jobs[blockIdx.y];
  if (blockIdx.x >= job.n_rows) return;
  read_given(&t, reinterpret_cast<const void *>(job.begin + blockIdx.x * job.stride), job.type, job.first_row + blockIdx.x,
             found);
}

}  // namespace

void launch_given(const GivenArrays &a, uint32_t n_jobs, uint32_t max_rows, cudaStream_t stream) {
  constexpr uint32_t kMaxJobs = 65535;  // of a grid
  const GivenTables tables = {a.begins, a.columns, a.offsets, a.scores, a.faults, a.n_columns, a.n_states, a.is_one_to_one};
  for (uint32_t first = 0; first < n_jobs; first += kMaxJobs) {
    const uint32_t n = n_jobs - first < kMaxJobs ? n_jobs - first : kMaxJobs;
    given_kernel<<<dim3(max_rows, n), kGivenThreads, 0, stream>>>(tables, a.jobs + first);
  }
}

}  // namespace asr::gpu
