// SPDX-License-Identifier: Apache-2.0
// Removes the records that no token can reach, and moves the part of the path that all tokens share to the settled steps.
// Every token walks back and sets a bit for each record on its path until it meets one that is set; how many records follow a
// record is counted on the way. From the root on, records with a single follower are shared by all. New places are the
// numbers of bits before, which a sum for each word of 32 gives without a table; records move through the scratch memory, as
// many at a time as fit there.
#pragma once

#include "plugins/cuda/kernels/search_lane.cuh"

namespace asr::cuda {

// Where the parts of a compaction lie in the scratch memory, which is free between frames.
struct Compaction {
  uint32_t *bits, *before;             // [words of 32 records]
  uint32_t *n_followers, *a_follower;  // [n_records + 1], the first for the root
  TraceRecord *moved;                  // later in the place of the followers

  __device__ explicit Compaction(Lane &lane)
      : bits(reinterpret_cast<uint32_t *>(lane.list[0])),
        before(reinterpret_cast<uint32_t *>(lane.list[1])),
        n_followers(reinterpret_cast<uint32_t *>(lane.candidates)),
        a_follower(n_followers + lane.job.n_records + 1),
        moved(reinterpret_cast<TraceRecord *>(lane.candidates)) {}

  __device__ uint32_t place(uint32_t record) const {
    if (record == TraceRecord::kRoot) return record;
    const uint32_t bit = 1u << record % 32, word = bits[record / 32];
    return (word & bit) != 0 ? before[record / 32] + __popc(word & (bit - 1)) : TraceRecord::kRoot;  // settled
  }
};

// Walks from a token's record to what was walked before.
__device__ inline void mark_path(const Compaction &c, const TraceRecord *records, uint32_t record) {
  while (record != TraceRecord::kRoot) {
    const uint32_t bit = 1u << record % 32;
    if ((atomicOr(&c.bits[record / 32], bit) & bit) != 0) return;
    const uint32_t previous = records[record].previous;
    atomicAdd(&c.n_followers[previous + 1], 1u);
    c.a_follower[previous + 1] = record;
    record = previous;
  }
}

// Moves records from the root on to the settled steps while there is one follower; a token counts as two.
__device__ inline void settle(Lane &lane, const Compaction &c) {
  SearchJob &job = lane.job;
  for (uint32_t at = 0; __ldcg(&c.n_followers[at]) == 1 && job.n_settled < job.max_settled;) {
    const uint32_t record = __ldcg(&c.a_follower[at]);
    job.settled[job.n_settled++] = {job.records[record].arc, job.records[record].acoustic_cost};
    c.bits[record / 32] &= ~(1u << record % 32);
    at = record + 1;
  }
}

__device__ inline void block_compact_trace(Lane &lane) {
  SearchJob &job = lane.job;
  const Compaction c(lane);
  const uint32_t n_records = job.n_records, n_words = (n_records + 31) / 32;
  SearchToken *const tokens = job.tokens[job.current];
  for (uint32_t w = threadIdx.x; w < n_words; w += blockDim.x) c.bits[w] = 0;
  for (uint32_t r = threadIdx.x; r <= n_records; r += blockDim.x) c.n_followers[r] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) {
    atomicAdd(&c.n_followers[tokens[i].record + 1], 2u);
    mark_path(c, job.records, tokens[i].record);
  }
  __syncthreads();
  if (threadIdx.x == 0) settle(lane, c);
  __syncthreads();

  const uint32_t n_own = (n_words + blockDim.x - 1) / blockDim.x, first = threadIdx.x * n_own;
  uint32_t n = 0, total;
  for (uint32_t w = first; w < min(first + n_own, n_words); ++w) n += __popc(c.bits[w]);
  n = block_scan(n, lane.sums, &total);
  for (uint32_t w = first; w < min(first + n_own, n_words); ++w) {
    c.before[w] = n;
    n += __popc(c.bits[w]);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) tokens[i].record = c.place(tokens[i].record);
  const uint32_t n_part = lane.max_candidates;  // a record is smaller than a candidate
  for (uint32_t part = 0; part < total; part += n_part) {
    for (uint32_t r = part + threadIdx.x; r < n_records; r += blockDim.x) {
      if ((c.bits[r / 32] >> r % 32 & 1) == 0) continue;
      const uint32_t place = c.place(r) - part;  // no record moves up, so that the next parts are not overwritten
      if (place >= n_part) continue;
      const TraceRecord record = job.records[r];
      c.moved[place] = {c.place(record.previous), record.arc, record.acoustic_cost};
    }
    __syncthreads();
    for (uint32_t r = threadIdx.x; r < min(total - part, n_part); r += blockDim.x) job.records[part + r] = c.moved[r];
    __syncthreads();
  }
  if (threadIdx.x == 0) job.n_records = job.n_compacted = total;
  __syncthreads();
}

}  // namespace asr::cuda
