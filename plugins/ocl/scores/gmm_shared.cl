// SPDX-License-Identifier: Apache-2.0
// Mixtures over codebooks that many states share (G3). The Gaussians' scores have been computed, [gaussian][row] in base 2, and
// every state takes ln sum_k 2^(log_weight_k + score_k); double reference reference/gmm.cc. A row of work-items owns four
// states of one codebook and GROUP_ROWS rows, a row an item. Each load of a score serves four exponentials, which bound the
// kernel: one for each state, Gaussian and row.
//   -D GROUP_ROWS=..., GROUP_ENTRIES=...
#include "plugins/gpu/scores/shared_states.h"
#include "plugins/ocl/scores/mixture.clh"

__kernel __attribute__((reqd_work_group_size(GROUP_ROWS, GROUP_ENTRIES, 1))) void gmm_mix_shared(
    __global const SharedStates *restrict entries, uint n_entries, __global const float4 *restrict log_weights,
    __global const float *restrict gaussian_scores, uint n_rows, __global float *restrict scores, uint n_states, uint add) {
  const uint number = get_global_id(1), row = get_global_id(0);
  if (number >= n_entries || row >= n_rows) return;
  const SharedStates entry = entries[number];
  __global const float *const of_row = gaussian_scores + (size_t)entry.first_gaussian * n_rows + row;
  __global const float4 *const weights = log_weights + entry.first_weight;
  LogSum mixture[4];
#pragma unroll
  for (uint s = 0; s < 4; ++s) log_sum_clear(&mixture[s]);
  for (uint k = 0; k < entry.n_gaussians; k += 4) {
    float4 v[4];  // terms of each Gaussian, a value a state
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const bool there = k + i < entry.n_gaussians;
      v[i] = there ? of_row[(size_t)(k + i) * n_rows] + weights[k + i] : (float4)(kLogZero);
    }
    log_sum_add(&mixture[0], (float4)(v[0].x, v[1].x, v[2].x, v[3].x));
    log_sum_add(&mixture[1], (float4)(v[0].y, v[1].y, v[2].y, v[3].y));
    log_sum_add(&mixture[2], (float4)(v[0].z, v[1].z, v[2].z, v[3].z));
    log_sum_add(&mixture[3], (float4)(v[0].w, v[1].w, v[2].w, v[3].w));
  }
#pragma unroll
  for (uint s = 0; s < 4; ++s) {
    __global float *const score = scores + (size_t)row * n_states + entry.states[s];
    if (s < entry.n_states) put_score(score, log_sum_natural(mixture[s]), add);
  }
}
