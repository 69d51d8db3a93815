// SPDX-License-Identifier: Apache-2.0
// The kernel of the extension "given"; plugins/gpu/given/given-inl.h has the equations. A work-group has a row of a job. Groups
// beyond a short job's rows make its last one again, since PoCL takes no return before a barrier.
#include "plugins/gpu/given/given-inl.h"

__kernel void given(__global const uchar *rows, __global const GivenJob *jobs, uint first, __global const uint *begins,
                    __global const uint *columns, __global const float *offsets, __global float *scores, __global uint *faults,
                    uint n_columns, uint n_states, uint is_one_to_one) {
  __local uint found[2];
  const GivenJob job = jobs[first + get_group_id(1)];
  const uint row = min((uint)get_group_id(0), job.n_rows - 1);
  const GivenTables t = {begins, columns, offsets, scores, faults, n_columns, n_states, is_one_to_one};
  read_given(&t, rows + job.begin + row * job.stride, job.type, job.first_row + row, found);
}
