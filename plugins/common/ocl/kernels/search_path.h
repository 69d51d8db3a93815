// SPDX-License-Identifier: Apache-2.0
// The best paths of channels, a work-group each. It finds the best token, with final costs and without, by the least cost and
// then the least state. If the common path is wanted, every work-item follows its tokens back to where they meet the best one:
// all these records are on one path, so the least of them is on the paths of all tokens. Then one work-item follows the best
// token's trace back. Both walks are short, for the part that all paths share has been settled (search_trace.h).

// A group for each of `jobs` from first_job on: writes its end and the path, from its last arc back, to its steps.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1))) void search_path(
    __global const SearchPathJob *jobs, uint first_job, __global const float *final_costs, __global const uint *channels,
    uint use_final, uint wants_common, __global SearchEnd *ends, __global PathStep *all_steps) {
  __local uint best_cost[2], best_state, record;
  __local uint common_end;  // records below it are on the paths of all tokens; 0 unless wanted
  const uint number = first_job + get_group_id(0);
  const SearchPathJob job = jobs[number];
  __global const SearchToken *const tokens = (__global const SearchToken *)(channels + job.tokens);
  __global const TraceRecord *const records = (__global const TraceRecord *)(channels + job.records);
  if (get_local_id(0) == 0) {
    best_cost[0] = best_cost[1] = best_state = 0xffffffffu;
    record = kTraceRoot;
    common_end = 0;
  }
  sync();
  for (uint i = get_local_id(0); i < job.n_tokens; i += GROUP_SIZE) {
    for (uint with_final = 0; with_final <= use_final; ++with_final) {
      const float cost = end_cost(tokens + i, with_final, final_costs);
      if (cost <= FLT_MAX) atomic_min(&best_cost[with_final], ordered(cost));
    }
  }
  sync();
  const uint with_final = best_cost[1] != 0xffffffffu ? 1 : 0;
  for (uint i = get_local_id(0); i < job.n_tokens; i += GROUP_SIZE) {
    if (ordered(end_cost(tokens + i, with_final, final_costs)) == best_cost[with_final])
      atomic_min(&best_state, tokens[i].state);
  }
  sync();
  for (uint i = get_local_id(0); i < job.n_tokens; i += GROUP_SIZE) {
    if (tokens[i].state == best_state) record = tokens[i].record;
  }
  sync();
  if (wants_common != 0) {
    if (get_local_id(0) == 0) common_end = record + 1;
    sync();
    atomic_min(&common_end, newest_common_record(records, record, tokens, job.n_tokens, get_local_id(0), GROUP_SIZE) + 1);
  }
  sync();
  if (get_local_id(0) != 0) return;
  SearchEnd end = {best_state, with_final, 0, 0};
  write_path(records, record, common_end, all_steps + job.steps, job.max_steps, &end);
  ends[number] = end;
}
