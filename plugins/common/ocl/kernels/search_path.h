// SPDX-License-Identifier: Apache-2.0
// The best paths of channels (plugins/common/kernels/search_path.h), a work-group each.

#include "plugins/common/kernels/search_path.h"

// A group for each of `jobs` from first_job on: writes its end and the path, from its last arc back, to its steps.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void search_path(
    __global const SearchPathJob *jobs, uint first_job, __global const float *final_costs, __global const uint *channels,
    uint use_final, uint wants_common, __global SearchEnd *ends, __global PathStep *all_steps) {
  __local PathFinding shared;
  const uint number = first_job + get_group_id(0);
  const SearchPathJob job = jobs[number];
  const PathEnds paths = {(__global const SearchToken *)(channels + job.tokens),
                          (__global const TraceRecord *)(channels + job.records),
                          final_costs,
                          job.n_tokens,
                          use_final != 0,
                          wants_common != 0};
  block_find_path(&paths, &shared, GROUP_SIZE, all_steps + job.steps, job.max_steps, ends + number);
}
