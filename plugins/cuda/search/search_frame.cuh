// SPDX-License-Identifier: Apache-2.0
// The parts of a frame that plugins/gpu/search/search_driver-inl.h asks for, and the beginning of a channel.
#pragma once

#include <math_constants.h>

#include "plugins/cuda/search/search_links.cuh"
#include "plugins/cuda/search/search_reduce.cuh"
#include "plugins/cuda/search/search_select.cuh"
#include "plugins/cuda/search/search_trace.cuh"

#include "plugins/gpu/search/search_driver-inl.h"

namespace asr::gpu {

__device__ inline void reset_list(SearchState *search, uint32_t list) {
  search->list_size[list] = search->n_candidates[list] = search->n_followed[list] = 0;
}

__device__ inline void reset_frame(SearchState *search) {
  for (uint32_t list = 0; list < 2; ++list) reset_list(search, list);
  search->first_candidate = 0;
  search->n_epsilon_links = search->n_used = 0;
  search->n_active = search->n_arcs = 0;
  search->best = ordered(CUDART_INF_F);
  search->overflow = 0;
  search->is_full = 0;
  search->n_records_before = search->job.n_records;
}

template <typename Team>
__device__ inline void team_give_up(const Table<Team> *table, SearchStatus status, uint32_t overflow) {
  table->block_free_own();
  if (threadIdx.x == 0) {
    SearchState &search = table->search;
    search.job.status = status;
    search.job.overflow = overflow;
    search.job.n_records = search.n_records_before;
    search.has_own_tokens = false;
    search.counts[search.job.current] = {};
    for (Mail &mail : search.mail) mail.n_spilled = 0;
  }
  Team::sync();
}

// Clears the counts of the next frame, too, which were last read in the frame before this one. A late block must not
// clear counters that others already use, so counts are cleared a frame ahead.
template <typename Team>
__device__ inline void know_best(const Table<Team> *table, const StepTotals *totals) {
  SearchState &search = table->search;
  search.counts[search.job.current ^ 1] = {};
  search.n_own_tokens = 0;
  if (search.job.may_leave && Team::rank() == 0)
    search.is_enough = *static_cast<volatile uint32_t *>(search.n_ended) >= search.enough;
  if (totals->overflow != 0 || cost_of(totals->best) <= FLT_MAX) return;
  search.job.status = kSearchDied;
  search.all_active += search.n_active;
  search.all_arcs += search.n_arcs;
}

// The frame's tokens become the channel's. `best`: of all blocks.
template <typename Team>
__device__ inline void commit(const Table<Team> *table, uint32_t n_frames, uint32_t best) {
  SearchState &search = table->search;
  SearchJob &job = search.job;
  const FrameCounts counts = *frame_counts(table);
  job.current ^= 1;
  job.n_tokens = counts.n_next;
  job.n_within = counts.n_within;
  // The leading block's count is current already: a write of the same value would race with the other blocks' reads.
  if (Team::rank() != 0) job.n_records = of_leader<Team>(&search.job)->n_records;
  pass_frames(&job.marks, n_frames, job.n_records);
  job.best = cost_of(best);
  job.n_consumed += n_frames;
  if (job.may_leave && job.n_consumed < job.n_frames && job.n_consumed >= job.n_frames / 4)
    job.has_left = of_leader<Team>(&search)->is_enough;
  search.all_active += search.n_active;
  search.all_arcs += search.n_arcs;
  if (has_lattice(table)) add_frame<Team>(search, counts.n_links[0], counts.n_links[1]);
}

template <typename Team>
__device__ inline void team_begin(SearchState &search) {
  const Table<Team> table(search);
  if (threadIdx.x == 0) reset_frame(&search);
  team_all_reduce(&table, false, kNoList);
  const uint32_t state = search.job.graph.start_state;
  if (threadIdx.x == 0) {
    search.best = ordered(0.0f);
    search.bound = bound_of(0.0f, search.job.beam.beam);
    search.n_own_tokens = 0;
    search.has_own_tokens = true;
  }
  if (warp_number() == 0 && Team::rank() == Team::owner_of(state)) {
    bool claimed;
    const uint32_t slot = table.warp_find(state, lane_number() == 0, &claimed);
    table.warp_add_claims(slot, claimed);
    if (claimed) {
      *table.key_at(slot) = make_key(0.0f, 0);
      *table.record_at(slot) = kTraceRoot;
    }
    const uint32_t first = search.job.graph.begins[state].epsilon, n_arcs = search.job.graph.begins[state + 1].epsilon - first;
    warp_add_item<Team>(search, 1, first, claimed ? n_arcs : 0, 0.0f, slot);
  }
  team_finish_frame(&table, &search, 0, nullptr, StepTotals{0, 1, 0, ordered(0.0f)});
}

__device__ inline const float *next_row(const SearchJob &job) {
  const uint32_t frame = job.n_consumed;
  return frame < job.n_kept ? job.kept_rows + size_t{frame} * job.kept_stride
                            : job.rows + size_t{frame - job.n_kept} * job.row_stride;
}

template <typename Team>
__device__ inline void team_consume(SearchState &search) {
  const Table<Team> table(search);
  const float *const row = next_row(search.job);
  if (Team::kStagesRows) block_stage_row(search, row);
  StepTotals totals;
  if (team_follow_row(&table, &search, row, &totals)) team_finish_frame(&table, &search, 1, row, totals);
}

}  // namespace asr::gpu
