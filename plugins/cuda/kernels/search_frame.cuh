// SPDX-License-Identifier: Apache-2.0
// The parts of a frame that plugins/common/kernels/search_driver.h asks for, and the beginning of a channel.
#pragma once

#include <math_constants.h>

#include "plugins/cuda/kernels/search_links.cuh"
#include "plugins/cuda/kernels/search_reduce.cuh"
#include "plugins/cuda/kernels/search_select.cuh"
#include "plugins/cuda/kernels/search_trace.cuh"

#include "plugins/common/kernels/search_driver.h"

namespace asr::cuda {

__device__ inline void reset_frame(SearchState *search) {
  search->list_size[0] = search->list_size[1] = 0;
  search->n_candidates[0] = search->n_candidates[1] = search->first_candidate = 0;
  search->n_followed[0] = search->n_followed[1] = 0;
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

// A block sees that its list is empty, a cluster that no candidate leads to a state with epsilon arcs.
template <typename Team>
__device__ inline bool has_arcs_left(const Table<Team> *table, uint32_t list, const StepTotals *totals) {
  return Team::kIsCluster ? totals->n_followed != 0 : table->search.list_size[list] != 0;
}

// Clears the counts of the next frame, too, which were last read in the frame before this one. A late block must not clear what
// others count already, so counts are cleared a frame ahead.
template <typename Team>
__device__ inline void know_best(const Table<Team> *table, const StepTotals *totals) {
  SearchState &search = table->search;
  search.counts[search.job.current ^ 1] = {};
  search.n_own_tokens = 0;
  if (totals->overflow != 0 || cost_of(totals->best) <= FLT_MAX) return;
  search.job.status = kSearchDied;
  search.all_active += search.n_active;
  search.all_arcs += search.n_arcs;
}

// Writes the tokens down, in a cluster also where the next frame finds them, and frees their slots unless links have to find
// them.
template <typename Team>
__device__ inline void block_finish_tokens(const Table<Team> *of, uint32_t best) {
  const Table<Team> &table = *of;
  SearchState &search = table.search;
  const bool makes_lattice = search.job.lattice.lattice_beam > 0;
  SearchToken *const tokens = search.job.tokens[search.job.current ^ 1];
  FrameCounts *const counts = of_leader<Team>(&search.counts[search.job.current]);
  const float cutoff = add_rounded(cost_of(best), search.job.beam.beam);
  const uint32_t n_used = min(search.n_used, table.most_claims());
  uint32_t n_within = 0;
  for (uint32_t first = warp_number() * kWarp; first < n_used; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    SearchToken token{0, 0, 0};
    bool keep = false;
    uint32_t slot = 0;
    if (i < n_used) {
      slot = search.used[i];
      token = {table.state(slot), table.cost(slot), *table.record_at(slot)};
      keep = token.cost <= search.bound;
      if (!makes_lattice) table.free(slot);
    }
    OwnToken own_token{token.state, token.cost, 0, 0, 0};
    if (Team::kIsCluster) own_token = with_arcs(search.job.graph, own_token);  // the loads are under way meanwhile
    const uint32_t own = Team::kIsCluster ? warp_append(&search.n_own_tokens, keep) : 0;
    const uint32_t index = own_token.number = warp_append(&counts->n_next, keep);
    if (keep && Team::kIsCluster) add_own_token(search, own, own_token);
    if (keep && makes_lattice) *table.number_at(slot) = index;
    if (keep && index < search.job.max_tokens) tokens[index] = token;
    if (keep && index >= search.job.max_tokens) report_full(search, kTokensFull);
    n_within += __popc(__ballot_sync(kAllLanes, keep && token.cost <= cutoff));
  }
  if (lane_number() == 0 && n_within > 0) atomicAdd(&counts->n_within, n_within);
}

// The frame's tokens become the channel's. `best`: of all blocks.
template <typename Team>
__device__ inline void commit(const Table<Team> *table, uint32_t n_frames, uint32_t best) {
  SearchState &search = table->search;
  SearchJob &job = search.job;
  const FrameCounts counts = *of_leader<Team>(&search.counts[job.current]);
  job.current ^= 1;
  job.n_tokens = counts.n_next;
  job.n_within = counts.n_within;
  // The leading block's count is current already: a write of the same value would race with the other blocks' reads.
  if (Team::rank() != 0) job.n_records = of_leader<Team>(&search.job)->n_records;
  job.best = cost_of(best);
  job.n_consumed += n_frames;
  search.all_active += search.n_active;
  search.all_arcs += search.n_arcs;
  if (has_lattice(table)) add_frame<Team>(search, counts.n_links[0], counts.n_links[1]);
}

template <typename Team>
__device__ inline void team_begin(SearchState &search) {
  const Table<Team> table(search);
  if (threadIdx.x == 0) reset_frame(&search);
  team_all_reduce(&table, false, kNoList);
  if (threadIdx.x == 0) {
    const uint32_t state = search.job.graph.start_state;
    const uint32_t first = search.job.graph.begins[state].epsilon, n_arcs = search.job.graph.begins[state + 1].epsilon - first;
    search.best = ordered(0.0f);
    search.bound = bound_of(0.0f, search.job.beam.beam);
    search.n_own_tokens = 0;
    search.has_own_tokens = true;
    if (Team::rank() == owner_of<Team>(state)) {
      bool claimed;
      const uint32_t slot = table.find(state, &claimed);
      search.used[search.n_used++] = slot;
      *table.key_at(slot) = make_key(0.0f, 0);
      *table.record_at(slot) = kTraceRoot;
      search.list[1][0] = {first, 0.0f, slot, 0};
      if (n_arcs > 0) search.list_size[1] = 1ull << 32 | n_arcs;
    }
  }
  team_finish_frame(&table, &search, 0, nullptr, StepTotals{0, 1, 0, ordered(0.0f)});
}

template <typename Team>
__device__ inline void team_consume(SearchState &search) {
  const Table<Team> table(search);
  const float *const row = search.job.rows + size_t{search.job.n_consumed} * search.job.row_stride;
  StepTotals totals;
  if (team_follow_row(&table, &search, row, &totals)) team_finish_frame(&table, &search, 1, row, totals);
}

}  // namespace asr::cuda
