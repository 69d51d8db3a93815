// SPDX-License-Identifier: Apache-2.0
// Compacts the trace (plugins/common/kernels/search_trace.h). The blocks of a team share the scratch memory of the leading one,
// except for the sums, which each has.
#pragma once

#include "plugins/common/kernels/search_trace.h"
#include "plugins/cuda/kernels/search_state.cuh"

namespace asr::cuda {

__device__ inline Compaction compaction_of(const SearchState &own, const SearchState &leader) {
  return {leader.spare[0], own.spare[1], reinterpret_cast<Followers *>(leader.large_spare),
          reinterpret_cast<TraceRecord *>(leader.large_spare)};
}

// Moves records from the root on to the settled steps while there is one follower; a token counts as two. The lanes of a warp
// go from record to record together, and after 32 of them each moves one. Returns how many steps are settled then.
__device__ inline uint32_t warp_settle(const SearchJob &job, const Compaction &c) {
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
  return n_settled;
}

// Numbers the bits; returns the number of records that stay.
__device__ inline uint32_t block_number_bits(SearchState &search, const Compaction &c, uint32_t n_words) {
  const Share words = share_of_thread(n_words, threadIdx.x, blockDim.x);
  uint32_t total;
  const uint32_t n_before = block_scan(count_bits(&c, words), search.sums, &total);
  number_bits(&c, words, n_before);
  __syncthreads();
  return total;
}

template <typename Team>
__device__ inline void team_compact_trace(SearchState &search) {
  SearchJob &job = search.job;
  const Compaction c = compaction_of(search, *of_leader<Team>(&search));
  const uint32_t n_records = job.n_records, own = team_thread_number<Team>(), n_threads = team_n_threads<Team>();
  SearchToken *const tokens = job.tokens[job.current];
  clear_marks(&c, n_records, own, n_threads);
  Team::sync();
  mark_tokens(&c, tokens, job.n_tokens, job.records, own, n_threads);
  Team::sync();
  const uint32_t n_settled = own < kWarp ? warp_settle(job, c) : 0;
  Team::sync();
  if (own == 0) job.n_settled = n_settled;
  const uint32_t n_left = block_number_bits(search, c, n_bit_words(n_records));
  renumber_tokens(&c, tokens, job.n_tokens, own, n_threads);
  const uint32_t n_part = search.n_large_spare;  // a record is smaller than four numbers
  for (uint32_t part = 0; part < n_left; part += n_part) {
    gather_records(&c, job.records, n_records, part, n_part, own, n_threads);
    Team::sync();
    put_records(&c, job.records, part, min(n_left - part, n_part), own, n_threads);
    Team::sync();
  }
  if (threadIdx.x == 0) job.n_records = job.n_compacted = n_left;
  Team::sync();
}

}  // namespace asr::cuda
