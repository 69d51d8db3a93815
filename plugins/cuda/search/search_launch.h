// SPDX-License-Identifier: Apache-2.0
// Between search*.cc and the search kernels: a graph, channels and their jobs as they lie in memory, and the launches.
// docs/search.md defines the result. The paragraphs at the top of search.cu, and of the files it includes, describe the
// method.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "plugins/gpu/search/search_types.h"

namespace asr::gpu {

struct SearchTables {
  const SearchArc *arcs;
  const ArcBegins *begins;  // [n_states + 1]
  const float *final_costs;
  uint32_t start_state;
};

// A channel's lattice and its buffers.
struct SearchLinks : ChannelLattice, LatticeMemory {};

// Buffers of the best path of a channel (docs/search.md, "The best path"): *end, the path from its last arc back in steps[0 ...
// n_steps - 1], of which the first max_steps are written, and the settled part in settled_steps[0 ... n_settled - 1]. All three
// are memory of the host that the device can write.
struct PathOutput {
  SearchEnd *end;
  PathStep *steps, *settled_steps;
  uint32_t max_steps;
};

// A channel and the frames to consume. The kernel reads it at its start and writes it back at its end.
struct SearchJob {
  SearchTables graph;
  SearchBeam beam;
  const float *rows;  // rows of log-likelihoods
  uint32_t row_stride, n_frames;
  // The rows that the channel's last job left, which are of the first n_kept of these frames.
  const float *kept_rows;
  uint32_t kept_stride, n_kept;
  bool may_leave, has_left;  // may end, or ended, with frames that are not done
  bool begin;                // first makes the token of the start state; false from then on
  bool output;               // after the frames, writes the lattice as it would be if the utterance ended here; changes nothing
  bool use_final;            // in results
  bool wants_common;         // in `path`
  bool has_written;          // the lattice; set by the kernel
  bool has_path;             // written; set by the kernel
  PathOutput path;           // `end` nullptr: no path is wanted

  SearchToken *tokens[2];  // [max_tokens], tokens of the last frame and of the next
  TraceRecord *records;    // [max_records]
  PathStep *settled;       // [max_settled], the part that all paths share, as far as the host has not taken it
  uint32_t max_tokens, max_records, max_settled;

  uint32_t current;             // index of the last frame's tokens
  uint32_t n_tokens, n_within;  // tokens of the last frame: all, within the beam
  uint32_t n_records, n_settled;
  uint32_t n_compacted;  // records after the last compaction
  TraceMarks marks;
  float best;  // the least cost
  uint64_t n_active, n_arcs_expanded;
  SearchLinks lattice;
  SearchOutput written;

  uint32_t n_consumed;  // frames done, of n_frames
  SearchStatus status;
  uint32_t overflow;
};

// Working memory of one block. Tables are free between frames.
struct SearchScratch {
  uint32_t n_shared_slots;  // capacity of the table in shared memory, a power of two
  uint32_t n_shared_row;    // values of a row for which there is shared memory beside the table
  // A power of two, at least n_shared_slots and, of every channel, max_tokens and max_records / 128. The wide table has two
  // slots for each.
  uint32_t max_tokens;
  uint32_t max_candidates;          // more than half the max_records of every channel
  uint32_t initial_capacity_shift;  // as asr_backend_options says, for the shared memory of blocks of clusters
  uint4 *memory;                    // [n_parts], each of search_scratch_size(...)
  uint32_t n_parts;                 // parts, each for one of the blocks that run at once
  uint32_t *busy;                   // [n_parts], 1 while a block has the part
  uint32_t *n_ended, enough;        // jobs of the launch that have ended; so many of them end those that may leave frames
};
__host__ __device__ inline size_t search_scratch_size(uint32_t max_tokens, uint32_t max_candidates) {
  return size_t{max_tokens} * 4 + max_tokens / 2 + max_tokens / 4 + max_candidates + size_t{max_candidates} / 16 * 5;
}

// search_shared_slots() returns how many slots fit the shared memory of a block, and search_shared_row() how many values of a
// row beside them. prepare_search() must be called once for both.
uint32_t search_shared_slots(size_t shared_bytes);
uint32_t search_shared_row(size_t shared_bytes);
cudaError_t prepare_search(uint32_t n_shared_slots, uint32_t n_shared_row);
constexpr uint32_t kMaxClusterSize = 16, kMinClusterSize = 9;  // smaller ones, from 2 on, only where a test wants them
// Prepares launches of clusters of so many blocks; *n_clusters is how many of them run beside each other.
cudaError_t prepare_search_clusters(uint32_t cluster_size, uint32_t *n_clusters);
// A block for each job, in their order.
void launch_search(SearchJob *jobs, uint32_t n_jobs, const SearchScratch &scratch, cudaStream_t stream);
// A cluster for each job; scratch has parts for all of their blocks that run beside each other.
cudaError_t launch_search_clusters(SearchJob *jobs, uint32_t n_jobs, SearchScratch scratch, uint32_t cluster_size,
                                   cudaStream_t stream);

// ---- best paths ----------------------------------------------------------------------------------------------------------

// The best path of a channel that no other launch works on.
struct SearchPathJob {
  const float *final_costs;
  const SearchToken *tokens;
  const TraceRecord *records;
  const PathStep *settled;
  uint32_t n_tokens, n_settled;
  bool use_final, wants_common;
  PathOutput output;
};
__host__ __device__ inline SearchPathJob path_job_of(const SearchJob &job) {
  return {job.graph.final_costs, job.tokens[job.current], job.records,      job.settled, job.n_tokens,
          job.n_settled,         job.use_final,           job.wants_common, job.path};
}
void launch_search_paths(const SearchPathJob *jobs, uint32_t n_jobs, cudaStream_t stream);

}  // namespace asr::gpu
