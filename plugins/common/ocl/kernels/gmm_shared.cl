// SPDX-License-Identifier: Apache-2.0
// Mixtures over codebooks that many states share (G3): the Gaussians' scores are there already, [gaussian][row] in base 2, and
// every state takes ln sum_k 2^(log_weight_k + score_k); double reference tests/reference/gmm.cc. A row of work items owns four
// states of one codebook and GROUP_ROWS rows, a row an item; each load of a score serves four exponentials, which bound the
// kernel: one for each state, Gaussian and row.
//   -D GROUP_ROWS=..., GROUP_ENTRIES=...
#include "plugins/common/ocl/kernels/gmm_types.h"
#include "plugins/common/ocl/kernels/mixture.h"

__kernel __attribute__((reqd_work_group_size(GROUP_ROWS, GROUP_ENTRIES, 1))) void gmm_mix_shared(
    __global const GmmShared *restrict entries, uint n_entries, __global const float4 *restrict log_weights,
    __global const float *restrict gaussian_scores, uint n_rows, __global float *restrict scores, uint n_states, uint add) {
  const uint number = get_global_id(1), row = get_global_id(0);
  if (number >= n_entries || row >= n_rows) return;
  const GmmShared entry = entries[number];
  __global const float *const of_row = gaussian_scores + (size_t)entry.first_gaussian * n_rows + row;
  __global const float4 *const weights = log_weights + entry.first_weight;
  LogSum mixture[4];
  for (uint s = 0; s < 4; ++s) log_sum_clear(&mixture[s]);
  for (uint k = 0; k < entry.n_gaussians; k += 4) {
    float4 v[4];  // [state], four Gaussians
    for (uint i = 0; i < 4; ++i) {
      const bool there = k + i < entry.n_gaussians;
      const float score = there ? of_row[(size_t)(k + i) * n_rows] : LOG_ZERO;
      const float4 w = there ? weights[k + i] : (float4)(0);
      const float4 sum = score + w;
      ((float *)&v[0])[i] = sum.x;
      ((float *)&v[1])[i] = sum.y;
      ((float *)&v[2])[i] = sum.z;
      ((float *)&v[3])[i] = sum.w;
    }
    for (uint s = 0; s < 4; ++s) log_sum_add(&mixture[s], v[s]);
  }
  for (uint s = 0; s < entry.n_states; ++s) {
    put_score(scores + (size_t)row * n_states + entry.states[s], log_sum_natural(mixture[s]), add);
  }
}
