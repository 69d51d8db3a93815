// SPDX-License-Identifier: Apache-2.0
// The parts of a compaction of the trace (plugins/gpu/search/search_trace-inl.h) that a team does its own way. Its blocks share
// the scratch memory of the leading one, except for the sums, which each has.
#pragma once

#include <math_constants.h>

#include "plugins/cuda/search/search_table.cuh"
#include "plugins/gpu/search/search_trace-inl.h"

namespace asr::gpu {

template <typename Team>
__device__ inline Compaction compaction(const Table<Team> *table) {
  const SearchState &own = table->search, &leader = *of_leader<Team>(&table->search);
  return {leader.spare[0], own.spare[1], reinterpret_cast<Followers *>(leader.large_spare),
          reinterpret_cast<TraceRecord *>(leader.large_spare)};
}
template <typename Team>
__device__ inline SearchToken *last_tokens(const Table<Team> *table) {
  return table->search.job.tokens[table->search.job.current];
}
template <typename Team>
__device__ inline TraceRecord *trace_records(const Table<Team> *table) {
  return table->search.job.records;
}
template <typename Team>
__device__ inline uint32_t n_moved_at_once(const Table<Team> *table) {
  return table->search.n_large_spare;  // a record is smaller than four numbers
}

// Cutting paths that do not join (docs/search.md).
template <typename Team>
__device__ inline PathCut *path_cut(const Table<Team> *table) {
  return of_leader<Team>(&table->search.path_cut);
}
template <typename Team>
__device__ inline uint32_t n_emitting_arcs(const Table<Team> *table) {
  return table->search.job.graph.begins[0].epsilon;
}
template <typename Team>
__device__ inline void cut_slot(const Table<Team> *table, uint32_t slot) {
  *table->key_at(slot) = make_key(CUDART_INF_F, 0);
  *table->record_at(slot) = kNoRecord;
}

// Moves records from the root on to the settled steps while there is one follower; a token counts as two. The lanes of a warp
// go from record to record together, and after 32 of them each moves one.
template <typename Team>
__device__ inline void team_settle(const Table<Team> *table, const Compaction *of) {
  if (team_thread_number(table) >= kWarp) return;
  const Compaction &c = *of;
  SearchJob &job = table->search.job;
  uint32_t at = 0, n_settled = job.n_settled;
  for (bool goes_on = true; goes_on;) {
    uint32_t n = 0, own = 0;
    for (; n < kWarp; ++n) {
      const uint2 followers = __ldcg(reinterpret_cast<const uint2 *>(&c.followers[at]));  // n, record
      goes_on = followers.x == 1 && n_settled + n < job.max_settled;
      if (!goes_on) break;
      if (lane_number() == n) own = followers.y;
      at = followers.y + 1;
    }
    if (lane_number() < n) {
      const TraceRecord record = job.records[own];
      job.settled[n_settled + lane_number()] = {record.arc, record.acoustic_cost};
      atomicAnd(&c.bits[own / 32], ~(1u << own % 32));
    }
    n_settled += n;
  }
  __syncwarp();
  if (lane_number() == 0) job.n_settled = n_settled;
}

}  // namespace asr::gpu
