// SPDX-License-Identifier: Apache-2.0
// Removes the records that no token can reach, and moves the part of the path that all tokens share to the settled steps.
// Every token walks back and sets a bit for each record on its path until it meets one that is set; how many records follow a
// record is counted on the way. From the root on, records with a single follower are shared by all. New places are the
// numbers of bits before, which a sum for each word of 32 gives without a table; records move through the scratch memory, as
// many at a time as fit there. The blocks of a team share the scratch memory of the leading one, except for the sums, which
// each has.
#pragma once

#include "plugins/common/kernels/search_trace.h"
#include "plugins/cuda/kernels/search_lane.cuh"

namespace asr::cuda {

// Where the parts of a compaction lie in the scratch memory, which is free between frames.
struct Compaction {
  uint32_t *bits, *before;  // [words of 32 records]
  Followers *followers;     // [n_records + 1], the first for the root
  TraceRecord *moved;       // later in the place of the followers

  __device__ Compaction(const Lane &own, const Lane &leader)
      : bits(leader.spare[0]),
        before(own.spare[1]),
        followers(reinterpret_cast<Followers *>(leader.large_spare)),
        moved(reinterpret_cast<TraceRecord *>(leader.large_spare)) {}

  __device__ uint32_t place(uint32_t record) const { return place_of_record(bits, before, record); }
};

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

// The sums; returns how many records stay.
__device__ inline uint32_t block_count_before(Lane &lane, const Compaction &c, uint32_t n_words) {
  const uint32_t n_own = (n_words + blockDim.x - 1) / blockDim.x, first = threadIdx.x * n_own;
  uint32_t n = 0, total;
  for (uint32_t w = first; w < min(first + n_own, n_words); ++w) n += __popc(c.bits[w]);
  n = block_scan(n, lane.sums, &total);
  for (uint32_t w = first; w < min(first + n_own, n_words); ++w) {
    c.before[w] = n;
    n += __popc(c.bits[w]);
  }
  __syncthreads();
  return total;
}

template <typename Team>
__device__ inline void team_compact_trace(Lane &lane) {
  SearchJob &job = lane.job;
  const Compaction c(lane, *of_leader<Team>(&lane));
  const uint32_t n_records = job.n_records, n_words = (n_records + 31) / 32;
  const uint32_t own = team_thread_number<Team>(), n_threads = team_n_threads<Team>();
  SearchToken *const tokens = job.tokens[job.current];
  for (uint32_t w = own; w < n_words; w += n_threads) c.bits[w] = 0;
  for (uint32_t r = own; r <= n_records; r += n_threads) c.followers[r] = {0, 0};
  Team::sync();
  for (uint32_t i = own; i < job.n_tokens; i += n_threads) {
    atomic_add(&c.followers[tokens[i].record + 1].n, 2u);
    mark_path(c.bits, c.followers, job.records, tokens[i].record);
  }
  Team::sync();
  const uint32_t n_settled = own < kWarp ? warp_settle(job, c) : 0;
  Team::sync();
  if (own == 0) job.n_settled = n_settled;
  const uint32_t n_left = block_count_before(lane, c, n_words);
  for (uint32_t i = own; i < job.n_tokens; i += n_threads) tokens[i].record = c.place(tokens[i].record);
  const uint32_t n_part = lane.n_large_spare;  // a record is smaller than four numbers
  for (uint32_t part = 0; part < n_left; part += n_part) {
    for (uint32_t r = part + own; r < n_records; r += n_threads) {
      const uint32_t place = c.place(r) - part;  // no record moves up, so that the next parts are not overwritten
      if (place >= n_part) continue;
      const TraceRecord record = job.records[r];
      c.moved[place] = {c.place(record.previous), record.arc, record.acoustic_cost};
    }
    Team::sync();
    for (uint32_t r = own; r < min(n_left - part, n_part); r += n_threads) job.records[part + r] = c.moved[r];
    Team::sync();
  }
  if (threadIdx.x == 0) job.n_records = job.n_compacted = n_left;
  Team::sync();
}

}  // namespace asr::cuda
