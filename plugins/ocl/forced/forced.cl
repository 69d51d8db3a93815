// SPDX-License-Identifier: Apache-2.0
// The kernel of the extension "forced"; plugins/gpu/forced/forced-inl.h has the equations. A work-group has the rows of a
// block.
#include "plugins/gpu/forced/forced-inl.h"

__kernel void forced(__global const ForcedCodebook *codebooks, __global const ForcedMixture *mixtures,
                     __global const uint *dims, __global const float *parameters, __global const float *weights,
                     __global const float *rows, __global const uint *states, __global float *loglikes, uint n_streams,
                     uint n_dims, uint n_rows) {
  __local LogSum sums[kForcedThreads];
  const ForcedTables t = {codebooks, mixtures, dims, parameters, weights, rows, states, loglikes, n_streams, n_dims, n_rows};
  score_forced(&t, get_group_id(0), sums);
}
