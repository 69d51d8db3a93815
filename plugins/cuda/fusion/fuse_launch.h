// SPDX-License-Identifier: Apache-2.0
// The interface between fusion.cc and its kernels has the tables of a call (plugins/common/fuse_types.h) or a job of
// its own, and the launches.
#pragma once

#include <cuda_runtime_api.h>

#include "plugins/common/fuse_types.h"

namespace asr::gpu {

struct FuseTables {
  const FuseRow *rows;
  const FuseJob *jobs;
  const FuseTerm *terms;
  uint32_t n_rows, n_states, max_terms;  // max_terms: of a job
  float *to;                             // score buffer of the results, which may be one of the models'
  const float *models[kFuseMostModels];  // score buffers
};
void launch_fuse(const FuseTables &tables, cudaStream_t stream);

// `scores` of the terms begin at the job's first rows, and so does `to`.
void launch_fuse_job(const FuseTerms &terms, const FuseFlatJob &job, float *to, cudaStream_t stream);

}  // namespace asr::gpu
