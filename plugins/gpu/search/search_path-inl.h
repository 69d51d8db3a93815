// SPDX-License-Identifier: Apache-2.0
// The best path of a channel, by a block. It finds the best token, with final costs and without, by the least cost and then the
// least state. If the common path is wanted, every thread follows its tokens back to where they meet the best one. All
// these records are on one path, so the least of them is on the paths of all tokens. Then one thread follows the best
// token's trace back. Both walks are short, for the part that all paths share has been settled (search_trace-inl.h).
#ifndef SENONE_KERNELS_SEARCH_PATH_H
#define SENONE_KERNELS_SEARCH_PATH_H

#include "plugins/gpu/search/search_costs-inl.h"
#include "plugins/gpu/search/search_keys-inl.h"
#include "plugins/gpu/search/search_trace-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

// The tokens that end paths, and their trace.
typedef struct PathEnds {
  GLOBAL const SearchToken *tokens;
  GLOBAL const TraceRecord *records;
  GLOBAL const float *final_costs;
  uint32_t n_tokens;
  bool use_final, wants_common;
} PathEnds;

// Shared memory of the threads that find a path.
typedef struct PathFinding {
  uint32_t best_cost[2];  // ordered: without final costs, with
  uint32_t state, record;
  uint32_t common_end;  // records below it are on the paths of all tokens; 0 unless wanted
} PathFinding;

// Writes the best path, from its last arc back, to steps [max_steps], and its end. By all of a block's n_threads threads.
DEVICE void block_find_path(const PathEnds *ends, LOCAL PathFinding *shared, uint32_t n_threads, GLOBAL PathStep *steps,
                            uint32_t max_steps, GLOBAL SearchEnd *to) {
  if (thread_number() == 0) {
    shared->best_cost[0] = shared->best_cost[1] = shared->state = 0xffffffffu;
    shared->record = kTraceRoot;
    shared->common_end = 0;
  }
  block_sync();
  for (uint32_t final = 0; final <= (ends->use_final ? 1 : 0); ++final) {
    float least = INFINITY;
    for (uint32_t i = thread_number(); i < ends->n_tokens; i += n_threads)
      least = fmin(least, end_cost(ends->tokens + i, final != 0, ends->final_costs));
    if (least <= FLT_MAX) atomic_min(&shared->best_cost[final], ordered(least));
  }
  block_sync();
  const uint32_t with_final = shared->best_cost[1] != 0xffffffffu ? 1 : 0;
  for (uint32_t i = thread_number(); i < ends->n_tokens; i += n_threads) {
    const float cost = end_cost(ends->tokens + i, with_final != 0, ends->final_costs);
    if (ordered(cost) == shared->best_cost[with_final]) atomic_min(&shared->state, ends->tokens[i].state);
  }
  block_sync();
  for (uint32_t i = thread_number(); i < ends->n_tokens; i += n_threads)
    if (ends->tokens[i].state == shared->state) shared->record = ends->tokens[i].record;
  block_sync();
  if (ends->wants_common) {
    if (thread_number() == 0) shared->common_end = shared->record + 1;
    block_sync();
    const uint32_t common =
        newest_common_record(ends->records, shared->record, ends->tokens, ends->n_tokens, thread_number(), n_threads);
    atomic_min(&shared->common_end, common + 1);
  }
  block_sync();
  if (thread_number() == 0) {
    SearchEnd end = {shared->state, with_final, 0, 0};
    write_path(ends->records, shared->record, shared->common_end, steps, max_steps, &end);
    *to = end;
  }
  block_sync();
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_PATH_H
