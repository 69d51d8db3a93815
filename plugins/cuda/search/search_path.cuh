// SPDX-License-Identifier: Apache-2.0
// The best path of a channel (plugins/gpu/search/search_path-inl.h), written straight into the host's memory.
#pragma once

#include "plugins/cuda/search/search_launch.h"
#include "plugins/gpu/search/search_path-inl.h"

namespace asr::gpu {

__device__ inline void block_find_path(const SearchPathJob &job, PathFinding &shared) {
  const PathEnds ends{job.tokens, job.records, job.final_costs, job.n_tokens, job.use_final, job.wants_common};
  for (uint32_t i = threadIdx.x; i < job.n_settled; i += blockDim.x) job.output.settled_steps[i] = job.settled[i];
  block_find_path(&ends, &shared, blockDim.x, job.output.steps, job.output.max_steps, job.output.end);
}

}  // namespace asr::gpu
