// SPDX-License-Identifier: Apache-2.0
// The jobs of a team: a channel's frames one after the other, what is done again with more memory, and the lattice, which is
// pruned between frames.
#pragma once

#include "plugins/cuda/kernels/search_frame.cuh"
#include "plugins/cuda/kernels/search_output.cuh"

namespace asr::cuda {

// Before a frame: whether there is place for it in the lattice.
template <typename Team>
__device__ inline bool team_make_room(Lane &lane) {
  SearchJob &job = lane.job;
  SearchLinks &lattice = job.lattice;
  const bool links_crowded = lattice.n_unpruned > 0 && lattice.n_links + lane.n_newest_links * 5 / 4 > lattice.max_links;
  const bool frames_full = lattice.n_frames == lattice.max_frames;
  __syncthreads();
  if (links_crowded || frames_full) team_let_leader<Team>(lane, [&] { block_prune(lane, true); });
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
__device__ inline void team_tend_lattice(Lane &lane) {
  SearchJob &job = lane.job;
  SearchLinks &lattice = job.lattice;
  const uint32_t newest = lattice.first_frame + lattice.n_frames - 1;
  const bool links_full = job.status == kSearchOverflow && job.overflow == kLinksFull && lattice.n_unpruned > 0;
  const bool settles = settles_piece(newest, lattice.last_settled) && job.status == kSearchRunning;
  // A cluster, of which one block prunes, does so when it must.
  const bool is_due = settles || (!Team::kIsCluster && lattice.n_unpruned >= kPruneFrames);
  __syncthreads();
  if (links_full || is_due) team_let_leader<Team>(lane, [&] { block_prune(lane, links_full || settles); });
  if (threadIdx.x == 0) {
    if (settles) lattice.last_settled = newest - kPieceFrames;
    if (links_full) job.status = kSearchRunning;
  }
  __syncthreads();
}

// A frame, or the beginning. What does not fit the team's table, or a block's share of a cluster, is done again by the leading
// block with a table in global memory.
template <typename Team, bool kBegins>
__device__ inline void team_take_step(Lane &lane) {
  SearchJob &job = lane.job;
  const auto step = [&](auto team) {
    if constexpr (kBegins) {
      team_begin<decltype(team)>(lane);
    } else {
      team_consume<decltype(team)>(lane);
    }
  };
  step(Team());
  const uint32_t curable = kTableFull | (Team::kIsCluster ? kCandidatesFull : 0);
  if (job.status != kSearchOverflow || (job.overflow & curable) == 0) return;
  team_let_leader<Team>(lane, [&] {
    const uint32_t turn = lane.turn;
    __syncthreads();
    if (threadIdx.x == 0) {
      job.status = kSearchRunning;
      set_lists(lane);
    }
    __syncthreads();
    step(WideTeam());
    if constexpr (Team::kIsCluster) {
      if (threadIdx.x == 0) {
        set_share<Team>(lane);
        lane.turn = turn;  // as the other blocks have it
      }
    }
    __syncthreads();
  });
}

// A job, from its beginning to its end or to where it cannot go on.
template <typename Team>
__device__ inline void team_advance(Lane &lane) {
  SearchJob &job = lane.job;
  const bool makes_lattice = job.lattice.lattice_beam > 0;
  if (job.begin) {
    team_take_step<Team, true>(lane);
    if (threadIdx.x == 0) job.begin = job.status != kSearchRunning;
    __syncthreads();
  }
  while (job.status == kSearchRunning && job.n_consumed < job.n_frames) {
    if (makes_lattice && !team_make_room<Team>(lane)) return;
    team_take_step<Team, false>(lane);
    if (makes_lattice) team_tend_lattice<Team>(lane);
  }
  const bool is_done = job.status == kSearchRunning || job.status == kSearchDied;
  if (is_done && (job.output || job.path.end != nullptr)) team_let_leader<Team>(lane, [&] { block_give_results(lane); });
}

// Says where the links are that the host takes next, so that it need not read the frames first.
__device__ inline void note_settled(SearchLinks &lattice) {
  if (lattice.lattice_beam <= 0 || lattice.last_settled == 0) return;
  const uint32_t first = lattice.first_frame + lattice.n_taken > 0 ? lattice.n_taken + 1 : 0;
  const uint32_t last = lattice.last_settled - lattice.first_frame;
  if (first > last) return;
  const SearchFrame &frame = lattice.frames[last];
  lattice.settled_begin = lattice.frames[first].first_link;
  lattice.settled_end = frame.first_link + frame.n_emitting + frame.n_epsilon;
}

// A job, from memory of the host and back. Tables are free before and after it.
template <typename Team>
__device__ inline void team_take_job(Lane &lane, SearchJob *job) {
  if (threadIdx.x == 0) {
    lane.job = *job;
    lane.all_active = lane.all_arcs = 0;
    lane.counts[0] = lane.counts[1] = {};
    if constexpr (Team::kIsCluster) set_share<Team>(lane);
    lane.knows_tokens = false;
    know_newest_links(lane);
  }
  Team::sync();
  team_advance<Team>(lane);
  Team::sync();
  if (threadIdx.x == 0 && Team::rank() == 0) {
    for (uint32_t rank = 0; rank < Team::size(); ++rank) {
      lane.job.n_active += *Team::of_block(&lane.all_active, rank);
      lane.job.n_arcs_expanded += *Team::of_block(&lane.all_arcs, rank);
    }
    note_settled(lane.job.lattice);
    *job = lane.job;
  }
  Team::sync();
}

}  // namespace asr::cuda
