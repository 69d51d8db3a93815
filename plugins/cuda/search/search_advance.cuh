// SPDX-License-Identifier: Apache-2.0
// The jobs of a team take a channel's frames one after the other, and prune its lattice between frames. Frames that
// overflow are done again with more memory.
#pragma once

#include "plugins/cuda/search/search_cluster_steps.cuh"
#include "plugins/cuda/search/search_frame.cuh"
#include "plugins/cuda/search/search_prune.cuh"

namespace asr::gpu {

// Prunes before a frame if its links or its entry may not fit. Returns false if the host has to take frames first.
template <typename Team>
__device__ inline bool team_ensure_capacity(SearchState &search) {
  SearchJob &job = search.job;
  SearchLinks &lattice = job.lattice;
  const bool may_lack_links = lattice.n_unpruned > 0 && lattice.n_links + search.n_newest_links * 5 / 4 > lattice.max_links;
  const bool frames_full = lattice.n_frames == lattice.max_frames;
  __syncthreads();
  if (may_lack_links || frames_full) team_run_on_leader(Team(), search, [&] { block_prune(search, true); });
  if (lattice.n_frames < lattice.max_frames) return true;
  __syncthreads();
  if (threadIdx.x == 0) {
    job.status = kSearchOverflow;
    job.overflow = kFramesFull;
  }
  __syncthreads();
  return false;
}

// After a frame: prunes now and then. A frame whose links did not fit is tried again if pruning can help.
template <typename Team>
__device__ inline void team_prune_when_due(SearchState &search) {
  SearchJob &job = search.job;
  SearchLinks &lattice = job.lattice;
  const uint32_t newest = newest_frame(&lattice);
  const bool links_full = job.status == kSearchOverflow && job.overflow == kLinksFull && lattice.n_unpruned > 0;
  const bool settles = settles_piece(newest, lattice.last_settled) && job.status == kSearchRunning;
  const bool is_due = settles || (Team::kPrunesEarly && lattice.n_unpruned >= kPruneFrames);
  __syncthreads();
  if (links_full || is_due) team_run_on_leader(Team(), search, [&] { block_prune(search, links_full || settles); });
  if (threadIdx.x == 0) {
    if (settles) lattice.last_settled = newest - kPieceFrames;
    if (links_full) job.status = kSearchRunning;
  }
  __syncthreads();
}

// A frame, or the beginning. A frame that overflows the team's table, or a block's share of a cluster, is done again.
// The leading block does it with a table in global memory.
template <typename Team, bool kBegins>
__device__ inline void team_take_step(SearchState &search) {
  SearchJob &job = search.job;
  const auto step = [&](auto team) {
    if constexpr (kBegins) {
      team_begin<decltype(team)>(search);
    } else {
      team_consume<decltype(team)>(search);
    }
  };
  step(Team());
  if (job.status != kSearchOverflow || (job.overflow & Team::kCurable) == 0) return;
  team_run_on_leader(Team(), search, [&] {
    const uint32_t turn = search.turn;
    __syncthreads();
    if (threadIdx.x == 0) {
      job.status = kSearchRunning;
      set_lists(search);
    }
    __syncthreads();
    step(WideTeam());
    if (threadIdx.x == 0) {
      set_lists_of(Team(), search);
      search.turn = turn;  // as the other blocks have it
    }
    __syncthreads();
  });
}

// A job, from its beginning to its end or to where it cannot go on.
template <typename Team>
__device__ inline void team_advance(SearchState &search) {
  SearchJob &job = search.job;
  const bool makes_lattice = job.lattice.lattice_beam > 0;
  if (job.begin) {
    team_take_step<Team, true>(search);
    if (threadIdx.x == 0) job.begin = job.status != kSearchRunning;
    __syncthreads();
  }
  while (job.status == kSearchRunning && job.n_consumed < job.n_frames && !job.has_left) {
    if (makes_lattice && !team_ensure_capacity<Team>(search)) return;
    team_take_step<Team, false>(search);
    if (makes_lattice) team_prune_when_due<Team>(search);
  }
  const bool is_done = job.status == kSearchRunning || job.status == kSearchDied;
  if (is_done && (job.output || job.path.end != nullptr))
    team_run_on_leader(Team(), search, [&] { block_give_results(search); });
}

// A job, from memory of the host and back. Tables are free before and after it.
template <typename Team>
__device__ inline void team_take_job(SearchState &search, SearchJob *job) {
  if (threadIdx.x == 0) {
    search.job = *job;
    search.all_active = search.all_arcs = 0;
    search.is_enough = false;
    search.counts[0] = search.counts[1] = {};
    set_lists_of(Team(), search);
    search.has_own_tokens = false;
    note_newest_links(search);
  }
  Team::sync();
  team_advance<Team>(search);
  Team::sync();
  if (threadIdx.x == 0 && Team::rank() == 0) {
    for (uint32_t rank = 0; rank < Team::size(); ++rank) {
      search.job.n_active += *Team::of_block(&search.all_active, rank);
      search.job.n_arcs_expanded += *Team::of_block(&search.all_arcs, rank);
    }
    note_settled_links(&search.job.lattice, search.job.lattice.frames);
    *job = search.job;
    atomicAdd(search.n_ended, 1u);
  }
  Team::sync();
}

}  // namespace asr::gpu
