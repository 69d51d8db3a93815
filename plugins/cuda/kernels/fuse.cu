// SPDX-License-Identifier: Apache-2.0
// The kernel of the extension "fusion"; plugins/common/kernels/fuse.h has the equations. A block has a part of a row.
#include "plugins/cuda/kernels/fuse.h"

#include "plugins/common/kernels/fuse.h"

namespace asr::cuda {
namespace {

constexpr uint32_t kThreads = 256, kMostRows = 65535;  // rows: of a grid

__global__ void __launch_bounds__(kThreads) fuse_kernel(const FuseTables t, uint32_t first) {
  const uint32_t state = blockIdx.x * kThreads + threadIdx.x;
  const FuseRow row = t.rows[first + blockIdx.y];
  if (state >= t.n_states) return;
  const float score = fused_score(t.jobs + row.job, t.terms, t.models, t.n_states, row.number, state);
  t.to[size_t{t.jobs[row.job].first_row + row.number} * t.n_states + state] = score;
}

}  // namespace

void launch_fuse(const FuseTables &tables, cudaStream_t stream) {
  for (uint32_t first = 0; first < tables.n_rows; first += kMostRows) {
    const uint32_t n = tables.n_rows - first < kMostRows ? tables.n_rows - first : kMostRows;
    fuse_kernel<<<dim3((tables.n_states + kThreads - 1) / kThreads, n), kThreads, 0, stream>>>(tables, first);
  }
}

}  // namespace asr::cuda
