// SPDX-License-Identifier: Apache-2.0
// The kernels of the extension "fusion"; plugins/gpu/fusion/fuse-inl.h has the equations. One serves the jobs of a call from
// tables, and a block has a part of a row. The other serves one job, whose terms are its argument. Its threads start without
// the tables' chain of reads, and rows of a job, which follow each other, are one long row. The number of pairs of terms is
// known when it is compiled, so that few terms cost no branches.
#include "plugins/cuda/fusion/fuse_launch.h"

#include "plugins/gpu/fusion/fuse-inl.h"

namespace asr::gpu {
namespace {

constexpr uint32_t kThreads = 256, kMaxRows = 65535;  // rows: of a grid

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

// kMost: n_terms, or one more, if that is up to kFuseFewTerms.
template <uint32_t kMost>
__global__ void __launch_bounds__(kThreads)
    fuse_job_kernel(const __grid_constant__ FuseTerms terms, const __grid_constant__ FuseFlatJob job, float *to) {
  const uint32_t at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= job.n_scores) return;
  const uint32_t n_terms = kMost > kFuseFewTerms ? job.n_terms : job.n_terms % 2 != 0 ? kMost - 1 : kMost;
  to[at] = fused_score(&terms, n_terms, job.rule, job.weight, at, kMost);
}

// Calls the kernel of as many terms.
template <uint32_t kMost = 2>
void launch_job(const FuseTerms &terms, const FuseFlatJob &job, float *to, cudaStream_t stream) {
  if constexpr (kMost > kFuseFewTerms) {
    fuse_job_kernel<kFuseMostModels><<<(job.n_scores - 1) / kThreads + 1, kThreads, 0, stream>>>(terms, job, to);
  } else if (job.n_terms <= kMost) {
    fuse_job_kernel<kMost><<<(job.n_scores - 1) / kThreads + 1, kThreads, 0, stream>>>(terms, job, to);
  } else {
    launch_job<kMost + 2>(terms, job, to, stream);
  }
}

}  // namespace

void launch_fuse(const FuseTables &tables, cudaStream_t stream) {
  for (uint32_t first = 0; first < tables.n_rows; first += kMaxRows) {
    const uint32_t n = tables.n_rows - first < kMaxRows ? tables.n_rows - first : kMaxRows;
    const auto kernel = tables.max_terms <= kFuseFewTerms ? fuse_kernel<kFuseFewTerms> : fuse_kernel<kFuseMostModels>;
    kernel<<<dim3((tables.n_states + kThreads - 1) / kThreads, n), kThreads, 0, stream>>>(tables, first);
  }
}

void launch_fuse_job(const FuseTerms &terms, const FuseFlatJob &job, float *to, cudaStream_t stream) {
  launch_job(terms, job, to, stream);
}

}  // namespace asr::gpu
