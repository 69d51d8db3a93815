// SPDX-License-Identifier: Apache-2.0
// The best path of a channel, by a block. It finds the best token, with final costs and without, by the least key of cost and
// state. If the common path is wanted, every thread follows its tokens back to where they meet the best one: all these records
// are on one path, so the least of them is on the paths of all tokens. Then one thread follows the best token's trace back and
// writes it straight into the host's memory. Both walks are short, for the part that all paths share has been settled
// (search_trace.cuh).
#pragma once

#include "plugins/common/kernels/search_costs.h"
#include "plugins/common/kernels/search_keys.h"
#include "plugins/common/kernels/search_trace.h"
#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/kernels/search_block.cuh"

namespace asr::cuda {

// Shared memory of the threads that find a path.
struct PathFinding {
  unsigned long long best_key[2];  // without final costs, with
  uint32_t record;
  uint32_t common_end;  // records below it are on the paths of all tokens; 0 unless wanted
};

__device__ inline unsigned long long warp_min_key(unsigned long long key) {
  for (uint32_t d = kWarp / 2; d > 0; d /= 2) key = min(key, __shfl_xor_sync(kAllLanes, key, d));
  return key;
}

__device__ inline void block_find_common(const SearchPathJob &job, PathFinding &shared) {
  if (threadIdx.x == 0) shared.common_end = shared.record + 1;
  __syncthreads();
  const uint32_t common = newest_common_record(job.records, shared.record, job.tokens, job.n_tokens, threadIdx.x, blockDim.x);
  atomicMin(&shared.common_end, common + 1);
}

__device__ inline void block_find_path(const SearchPathJob &job, PathFinding &shared) {
  if (threadIdx.x == 0) shared.best_key[0] = shared.best_key[1] = ~0ull, shared.common_end = 0;
  __syncthreads();
  const auto keys_of = [&](uint32_t i, unsigned long long *keys) {
    const SearchToken token = job.tokens[i];
    keys[0] = make_key(token.cost, token.state);
    const float cost = job.use_final ? end_cost(&token, true, job.final_costs) : INFINITY;
    keys[1] = cost <= FLT_MAX ? make_key(cost, token.state) : ~0ull;
  };
  unsigned long long keys[2], least[2] = {~0ull, ~0ull};
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) {
    keys_of(i, keys);
    for (uint32_t k = 0; k < 2; ++k) least[k] = min(least[k], keys[k]);
  }
  for (uint32_t k = 0; k < 2; ++k) {
    least[k] = warp_min_key(least[k]);
    if (lane_number() == 0) atomicMin(&shared.best_key[k], least[k]);
  }
  __syncthreads();
  const uint32_t with_final = shared.best_key[1] != ~0ull ? 1 : 0;
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) {
    keys_of(i, keys);
    if (keys[with_final] == shared.best_key[with_final]) shared.record = job.tokens[i].record;
  }
  for (uint32_t i = threadIdx.x; i < job.n_settled; i += blockDim.x) job.output.settled_steps[i] = job.settled[i];
  __syncthreads();
  if (job.wants_common) block_find_common(job, shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    SearchEnd end{static_cast<uint32_t>(shared.best_key[with_final]), with_final, 0, 0};
    write_path(job.records, shared.record, shared.common_end, job.output.steps, job.output.max_steps, &end);
    *job.output.end = end;
  }
  __syncthreads();
}

}  // namespace asr::cuda
