// SPDX-License-Identifier: Apache-2.0
// The best paths of channels, a block each. It finds the best token, with final costs and without, by the least key of cost and
// state; then one thread follows the trace back, which is short, for what all paths share has been settled (search_trace.cuh),
// and writes it straight into the host's memory.
#include <math_constants.h>

#include <cfloat>

#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/kernels/search_block.cuh"

namespace asr::cuda {
namespace {

constexpr uint32_t kThreads = 1024;

__global__ void __launch_bounds__(kThreads) search_path_kernel(const SearchPathJob *jobs) {
  const SearchPathJob job = jobs[blockIdx.x];
  __shared__ unsigned long long best_key[2];  // without final costs, with
  __shared__ uint32_t record;
  if (threadIdx.x == 0) best_key[0] = best_key[1] = ~0ull;
  __syncthreads();
  const auto keys_of = [&](uint32_t i, unsigned long long *keys) {
    const SearchToken token = job.tokens[i];
    keys[0] = make_key(token.cost, token.state);
    const float cost = job.use_final ? __fadd_rn(token.cost, job.graph.final_costs[token.state]) : CUDART_INF_F;
    keys[1] = cost <= FLT_MAX ? make_key(cost, token.state) : ~0ull;
  };
  unsigned long long keys[2];
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += kThreads) {
    keys_of(i, keys);
    atomicMin(&best_key[0], keys[0]);
    if (keys[1] != ~0ull) atomicMin(&best_key[1], keys[1]);
  }
  __syncthreads();
  const uint32_t with_final = best_key[1] != ~0ull ? 1 : 0;
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += kThreads) {
    keys_of(i, keys);
    if (keys[with_final] == best_key[with_final]) record = job.tokens[i].record;
  }
  for (uint32_t i = threadIdx.x; i < job.n_settled; i += kThreads) job.settled_steps[i] = job.settled[i];
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint32_t n = 0;
  for (uint32_t r = record; r != TraceRecord::kRoot; ++n) {
    const TraceRecord at = job.records[r];
    if (n < job.max_steps) job.steps[n] = {at.arc, at.acoustic_cost};
    r = at.previous;
  }
  *job.end = {static_cast<uint32_t>(best_key[with_final]), with_final, n};
}

}  // namespace

void launch_search_paths(const SearchPathJob *jobs, uint32_t n_jobs, cudaStream_t stream) {
  search_path_kernel<<<n_jobs, kThreads, 0, stream>>>(jobs);
}

}  // namespace asr::cuda
