// SPDX-License-Identifier: Apache-2.0
// The kernel of the extension "fusion"; plugins/common/kernels/fuse.h has the equations. A block has a part of a row.
#include "plugins/cuda/kernels/fuse.h"

#include "plugins/common/kernels/fuse.h"

namespace asr::cuda {
namespace {

constexpr uint32_t kThreads = 256, kMostRows = 65535;  // rows: of a grid

// kMost: of the terms of a job.
template <uint32_t kMost>
__global__ void __launch_bounds__(kThreads) fuse_kernel(const FuseTables t, uint32_t first) {
  __shared__ FuseTerms terms;
  const uint32_t state = blockIdx.x * kThreads + threadIdx.x;
  const FuseRow row = t.rows[first + blockIdx.y];
  const FuseJob job = t.jobs[row.job];
  if (threadIdx.x < job.n_terms) {
    const FuseTerm term = t.terms[job.first_term + threadIdx.x];
    fuse_set_term(&terms, threadIdx.x, term, t.models[term.model], t.n_states, row.number);
  }
  __syncthreads();
  if (state >= t.n_states) return;
  const float score = fused_score(&terms, job.n_terms, job.rule, job.weight, state, kMost);
  t.to[size_t{job.first_row + row.number} * t.n_states + state] = score;
}

}  // namespace

void launch_fuse(const FuseTables &tables, cudaStream_t stream) {
  for (uint32_t first = 0; first < tables.n_rows; first += kMostRows) {
    const uint32_t n = tables.n_rows - first < kMostRows ? tables.n_rows - first : kMostRows;
    const auto kernel = tables.most_terms <= kFuseFewTerms ? fuse_kernel<kFuseFewTerms> : fuse_kernel<kFuseMostModels>;
    kernel<<<dim3((tables.n_states + kThreads - 1) / kThreads, n), kThreads, 0, stream>>>(tables, first);
  }
}

}  // namespace asr::cuda
