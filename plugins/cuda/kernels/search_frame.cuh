// SPDX-License-Identifier: Apache-2.0
// A frame of a channel: the steps in their order, and where the blocks of a team wait for each other. Functions named team_*
// are called by all blocks of a team.
#pragma once

#include <math_constants.h>

#include "plugins/cuda/kernels/search_expand.cuh"
#include "plugins/cuda/kernels/search_links.cuh"
#include "plugins/cuda/kernels/search_select.cuh"
#include "plugins/cuda/kernels/search_stand.cuh"
#include "plugins/cuda/kernels/search_trace.cuh"

namespace asr::cuda {

// Before a frame; the caller's barrier follows.
__device__ inline void reset(Lane &lane) {
  if (threadIdx.x != 0) return;
  lane.list_size[0] = lane.list_size[1] = 0;
  lane.n_candidates[0] = lane.n_candidates[1] = lane.first_candidate = 0;
  lane.n_followed[0] = lane.n_followed[1] = 0;
  lane.n_epsilon_links = lane.n_used = 0;
  lane.n_active = lane.n_arcs = 0;
  lane.best = ordered(CUDART_INF_F);
  lane.overflow = 0;
  lane.is_full = 0;
  lane.n_records_before = lane.job.n_records;
}

// Counts of the next frame, which were last read in the frame before this one. A block that is late must not clear what others
// count already, so a frame's own are cleared a frame ahead.
__device__ inline void clear_next_counts(Lane &lane) {
  if (threadIdx.x == 0) lane.counts[lane.job.current ^ 1] = {};
}

// A frame that cannot be finished: as if it had not begun.
template <typename Team>
__device__ inline void team_give_up(Lane &lane, SearchStatus status, uint32_t overflow) {
  Table<Team>(lane).block_free_own();
  if (threadIdx.x == 0) {
    lane.job.status = status;
    lane.job.overflow = overflow;
    lane.job.n_records = lane.n_records_before;
    lane.knows_tokens = false;
    lane.counts[lane.job.current] = {};
    for (Mail &mail : lane.mail) mail.n_spilled = 0;
  }
  Team::sync();
}

// Follows epsilon arcs, those of list 1 first, until there are none; lowers the best cost. A block sees that its list is empty,
// a cluster that no candidate leads to a state with epsilon arcs. Returns false if the frame was given up.
template <typename Team>
__device__ inline bool team_follow_epsilons(Lane &lane, uint32_t n_followed, uint32_t *best) {
  if (threadIdx.x == 0 && lane.job.lattice.lattice_beam > 0) lane.first_candidate = lane.n_candidates[0];  // the emitting stay
  uint32_t list = 1;
  for (uint32_t n_rounds = 0;; ++n_rounds, list ^= 1) {
    __syncthreads();
    if (Team::kIsCluster ? n_followed == 0 : lane.list_size[list] == 0) return true;
    if (threadIdx.x == 0) lane.list_size[list ^ 1] = lane.n_candidates[list ^ 1] = lane.n_followed[list ^ 1] = 0;
    block_expand<false, Team>(lane, list, nullptr);
    const Standing standing = team_stand<Team>(lane, list, mail_of<false>(list));
    const bool endless = n_rounds > standing.n_used;
    if (standing.overflow != 0 || endless) {
      const SearchStatus status = endless ? kSearchNegativeCycle : kSearchOverflow;
      team_give_up<Team>(lane, status, standing.overflow);
      return false;
    }
    n_followed = standing.n_followed;
    *best = standing.best;
    if constexpr (Team::kIsCluster) {
      block_enter_mail<false, Team>(lane, list);
      __syncthreads();
    }
    block_resolve<false, Team>(lane, list, nullptr);
  }
}

// Writes the tokens down, in a cluster also where the next frame finds them, and frees their slots unless links have to find
// them.
template <typename Team>
__device__ inline void block_finish_tokens(Lane &lane, uint32_t best) {
  const Table<Team> table(lane);
  const bool makes_lattice = lane.job.lattice.lattice_beam > 0;
  SearchToken *const tokens = lane.job.tokens[lane.job.current ^ 1];
  FrameCounts *const counts = of_leader<Team>(&lane.counts[lane.job.current]);
  const float cutoff = add_rounded(cost_of(best), lane.job.beam.beam);
  const uint32_t n_used = min(lane.n_used, table.most_claims());
  uint32_t n_within = 0;
  for (uint32_t first = warp_number() * kWarp; first < n_used; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    SearchToken token{0, 0, 0};
    bool keep = false;
    uint32_t slot = 0;
    if (i < n_used) {
      slot = lane.used[i];
      token = {table.state(slot), table.cost(slot), *table.record_at(slot)};
      keep = token.cost <= lane.bound;
      if (!makes_lattice) table.free(slot);
    }
    OwnToken own_token{token.state, token.cost, 0, 0, 0};
    if (Team::kIsCluster) own_token = with_arcs(lane.job.graph, own_token);  // the loads are under way meanwhile
    const uint32_t own = Team::kIsCluster ? warp_append(&lane.n_own_tokens, keep) : 0;
    const uint32_t place = own_token.number = warp_append(&counts->n_next, keep);
    if (keep && Team::kIsCluster) add_own_token(lane, own, own_token);
    if (keep && makes_lattice) *table.number_at(slot) = place;
    if (keep && place < lane.job.max_tokens) tokens[place] = token;
    if (keep && place >= lane.job.max_tokens) report_full(lane, kTokensFull);
    n_within += __popc(__ballot_sync(kAllLanes, keep && token.cost <= cutoff));
  }
  if (lane_number() == 0 && n_within > 0) atomicAdd(&counts->n_within, n_within);
}

// The frame's tokens become the channel's. `best`: of all blocks.
template <typename Team>
__device__ inline void commit(Lane &lane, uint32_t n_frames, uint32_t best) {
  if (threadIdx.x != 0) return;
  SearchJob &job = lane.job;
  const FrameCounts counts = *of_leader<Team>(&lane.counts[job.current]);
  job.current ^= 1;
  job.n_tokens = counts.n_next;
  job.n_within = counts.n_within;
  // The leading block's count is current already: a write of the same value would race with the other blocks' reads.
  if (Team::rank() != 0) job.n_records = of_leader<Team>(&lane.job)->n_records;
  job.best = cost_of(best);
  job.n_consumed += n_frames;
  lane.all_active += lane.n_active;
  lane.all_arcs += lane.n_arcs;
  if (job.lattice.lattice_beam > 0) add_frame<Team>(lane, counts.n_links[0], counts.n_links[1]);
}

// Epsilon arcs and what follows them. `n_frames`: 1, or 0 for the beginning, which has no row. `best`: ordered cost so far.
template <typename Team>
__device__ inline void team_finish_frame(Lane &lane, uint32_t n_frames, const float *row, uint32_t n_followed, uint32_t best) {
  if (!team_follow_epsilons<Team>(lane, n_followed, &best)) return;
  const bool makes_lattice = lane.job.lattice.lattice_beam > 0;
  block_finish_tokens<Team>(lane, best);
  if (makes_lattice) {
    __syncthreads();
    block_make_emitting_links<Team>(lane, row);
  }
  Standing standing = team_stand<Team>(lane, 0);
  if (standing.overflow == 0 && makes_lattice) {
    block_make_epsilon_links<Team>(lane);
    standing = team_stand<Team>(lane, 0);
  }
  if (standing.overflow != 0) return team_give_up<Team>(lane, kSearchOverflow, standing.overflow);
  commit<Team>(lane, n_frames, best);
  if (makes_lattice) Table<Team>(lane).block_free_used();
  __syncthreads();
}

template <typename Team>
__device__ inline void team_begin(Lane &lane) {
  reset(lane);
  team_stand<Team>(lane, 0);
  if (threadIdx.x == 0) {
    const uint32_t state = lane.job.graph.start_state;
    const uint32_t first = lane.job.graph.begins[state].epsilon, n_arcs = lane.job.graph.begins[state + 1].epsilon - first;
    lane.best = ordered(0.0f);
    lane.bound = bound_of(0.0f, lane.job.beam.beam);
    lane.n_own_tokens = 0;
    lane.knows_tokens = true;
    if (Team::rank() == owner_of<Team>(state)) {
      const Table<Team> table(lane);
      bool claimed;
      const uint32_t slot = table.find(state, &claimed);
      lane.used[lane.n_used++] = slot;
      *table.key_at(slot) = make_key(0.0f, 0);
      *table.record_at(slot) = kTraceRoot;
      lane.list[1][0] = {first, 0.0f, slot, 0};
      if (n_arcs > 0) lane.list_size[1] = 1ull << 32 | n_arcs;
    }
  }
  team_finish_frame<Team>(lane, 0, nullptr, 1, ordered(0.0f));
}

template <typename Team>
__device__ inline void team_consume(Lane &lane) {
  SearchJob &job = lane.job;
  const bool crowded = trace_is_crowded(job.n_records, job.max_records, job.n_tokens, job.n_compacted);
  __syncthreads();
  if (crowded) team_compact_trace<Team>(lane);
  reset(lane);
  __syncthreads();
  const float *const row = job.rows + size_t{job.n_consumed} * job.row_stride;
  team_select<Team>(lane, row);
  __syncthreads();
  block_expand<true, Team>(lane, 0, row);
  const Standing standing = team_stand<Team>(lane, 0, mail_of<true>(0));
  clear_next_counts(lane);
  const float best = cost_of(standing.best);
  if (threadIdx.x == 0) {
    lane.bound = bound_of(best, job.beam.beam);
    lane.n_own_tokens = 0;
  }
  __syncthreads();
  if (standing.overflow != 0) return team_give_up<Team>(lane, kSearchOverflow, standing.overflow);
  if (!(best <= FLT_MAX)) {
    if (threadIdx.x == 0) {
      job.status = kSearchDied;
      lane.all_active += lane.n_active;
      lane.all_arcs += lane.n_arcs;
    }
    return __syncthreads();
  }
  if constexpr (Team::kIsCluster) {
    block_enter_mail<true, Team>(lane, 0);
    __syncthreads();
  }
  block_resolve<true, Team>(lane, 0, row);
  team_finish_frame<Team>(lane, 1, row, standing.n_followed, standing.best);
}

}  // namespace asr::cuda
