// SPDX-License-Identifier: Apache-2.0
// The steps of a frame in their order, and the barriers of a team's blocks between them. Functions named team_* are called by
// all blocks of a team.
#pragma once

#include <math_constants.h>

#include "plugins/cuda/kernels/search_expand.cuh"
#include "plugins/cuda/kernels/search_links.cuh"
#include "plugins/cuda/kernels/search_reduce.cuh"
#include "plugins/cuda/kernels/search_select.cuh"
#include "plugins/cuda/kernels/search_trace.cuh"

namespace asr::cuda {

// Before a frame; the caller's barrier follows.
__device__ inline void reset(SearchState &search) {
  if (threadIdx.x != 0) return;
  search.list_size[0] = search.list_size[1] = 0;
  search.n_candidates[0] = search.n_candidates[1] = search.first_candidate = 0;
  search.n_followed[0] = search.n_followed[1] = 0;
  search.n_epsilon_links = search.n_used = 0;
  search.n_active = search.n_arcs = 0;
  search.best = ordered(CUDART_INF_F);
  search.overflow = 0;
  search.is_full = 0;
  search.n_records_before = search.job.n_records;
}

// Clears the counts of the next frame, which were last read in the frame before this one. A late block must not clear what
// others count already, so counts are cleared a frame ahead.
__device__ inline void clear_next_counts(SearchState &search) {
  if (threadIdx.x == 0) search.counts[search.job.current ^ 1] = {};
}

// A frame that cannot be finished: as if it had not begun.
template <typename Team>
__device__ inline void team_give_up(SearchState &search, SearchStatus status, uint32_t overflow) {
  Table<Team>(search).block_free_own();
  if (threadIdx.x == 0) {
    search.job.status = status;
    search.job.overflow = overflow;
    search.job.n_records = search.n_records_before;
    search.has_own_tokens = false;
    search.counts[search.job.current] = {};
    for (Mail &mail : search.mail) mail.n_spilled = 0;
  }
  Team::sync();
}

// Follows epsilon arcs, those of list 1 first, until there are none; lowers the best cost. A block sees that its list is empty,
// a cluster that no candidate leads to a state with epsilon arcs. Returns false if the frame was given up.
template <typename Team>
__device__ inline bool team_follow_epsilons(SearchState &search, uint32_t n_followed, uint32_t *best) {
  if (threadIdx.x == 0 && search.job.lattice.lattice_beam > 0)
    search.first_candidate = search.n_candidates[0];  // the emitting stay
  uint32_t list = 1;
  for (uint32_t n_rounds = 0;; ++n_rounds, list ^= 1) {
    __syncthreads();
    if (Team::kIsCluster ? n_followed == 0 : search.list_size[list] == 0) return true;
    if (threadIdx.x == 0) search.list_size[list ^ 1] = search.n_candidates[list ^ 1] = search.n_followed[list ^ 1] = 0;
    block_expand<false, Team>(search, list, nullptr);
    const StepTotals totals = team_all_reduce<Team>(search, list, mail_of(false, list));
    const bool endless = n_rounds > totals.n_used;
    if (totals.overflow != 0 || endless) {
      const SearchStatus status = endless ? kSearchNegativeCycle : kSearchOverflow;
      team_give_up<Team>(search, status, totals.overflow);
      return false;
    }
    n_followed = totals.n_followed;
    *best = totals.best;
    if constexpr (Team::kIsCluster) {
      block_enter_mail<false, Team>(search, list);
      __syncthreads();
    }
    block_resolve<false, Team>(search, list, nullptr);
  }
}

// Writes the tokens down, in a cluster also where the next frame finds them, and frees their slots unless links have to find
// them.
template <typename Team>
__device__ inline void block_finish_tokens(SearchState &search, uint32_t best) {
  const Table<Team> table(search);
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
__device__ inline void commit(SearchState &search, uint32_t n_frames, uint32_t best) {
  if (threadIdx.x != 0) return;
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
  if (job.lattice.lattice_beam > 0) add_frame<Team>(search, counts.n_links[0], counts.n_links[1]);
}

// Epsilon arcs and what follows them. `n_frames`: 1, or 0 for the beginning, which has no row. `best`: ordered cost so far.
template <typename Team>
__device__ inline void team_finish_frame(SearchState &search, uint32_t n_frames, const float *row, uint32_t n_followed,
                                         uint32_t best) {
  if (!team_follow_epsilons<Team>(search, n_followed, &best)) return;
  const bool makes_lattice = search.job.lattice.lattice_beam > 0;
  block_finish_tokens<Team>(search, best);
  if (makes_lattice) {
    __syncthreads();
    block_make_emitting_links<Team>(search, row);
  }
  StepTotals totals = team_all_reduce<Team>(search, 0);
  if (totals.overflow == 0 && makes_lattice) {
    block_make_epsilon_links<Team>(search);
    totals = team_all_reduce<Team>(search, 0);
  }
  if (totals.overflow != 0) return team_give_up<Team>(search, kSearchOverflow, totals.overflow);
  commit<Team>(search, n_frames, best);
  if (makes_lattice) Table<Team>(search).block_free_used();
  __syncthreads();
}

template <typename Team>
__device__ inline void team_begin(SearchState &search) {
  reset(search);
  team_all_reduce<Team>(search, 0);
  if (threadIdx.x == 0) {
    const uint32_t state = search.job.graph.start_state;
    const uint32_t first = search.job.graph.begins[state].epsilon, n_arcs = search.job.graph.begins[state + 1].epsilon - first;
    search.best = ordered(0.0f);
    search.bound = bound_of(0.0f, search.job.beam.beam);
    search.n_own_tokens = 0;
    search.has_own_tokens = true;
    if (Team::rank() == owner_of<Team>(state)) {
      const Table<Team> table(search);
      bool claimed;
      const uint32_t slot = table.find(state, &claimed);
      search.used[search.n_used++] = slot;
      *table.key_at(slot) = make_key(0.0f, 0);
      *table.record_at(slot) = kTraceRoot;
      search.list[1][0] = {first, 0.0f, slot, 0};
      if (n_arcs > 0) search.list_size[1] = 1ull << 32 | n_arcs;
    }
  }
  team_finish_frame<Team>(search, 0, nullptr, 1, ordered(0.0f));
}

template <typename Team>
__device__ inline void team_consume(SearchState &search) {
  SearchJob &job = search.job;
  const bool needs_compaction = trace_needs_compaction(job.n_records, job.max_records, job.n_tokens, job.n_compacted);
  __syncthreads();
  if (needs_compaction) team_compact_trace<Team>(search);
  reset(search);
  __syncthreads();
  const float *const row = job.rows + size_t{job.n_consumed} * job.row_stride;
  team_select<Team>(search, row);
  __syncthreads();
  block_expand<true, Team>(search, 0, row);
  const StepTotals totals = team_all_reduce<Team>(search, 0, mail_of(true, 0));
  clear_next_counts(search);
  const float best = cost_of(totals.best);
  if (threadIdx.x == 0) {
    search.bound = bound_of(best, job.beam.beam);
    search.n_own_tokens = 0;
  }
  __syncthreads();
  if (totals.overflow != 0) return team_give_up<Team>(search, kSearchOverflow, totals.overflow);
  if (!(best <= FLT_MAX)) {
    if (threadIdx.x == 0) {
      job.status = kSearchDied;
      search.all_active += search.n_active;
      search.all_arcs += search.n_arcs;
    }
    return __syncthreads();
  }
  if constexpr (Team::kIsCluster) {
    block_enter_mail<true, Team>(search, 0);
    __syncthreads();
  }
  block_resolve<true, Team>(search, 0, row);
  team_finish_frame<Team>(search, 1, row, totals.n_followed, totals.best);
}

}  // namespace asr::cuda
