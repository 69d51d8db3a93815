// SPDX-License-Identifier: Apache-2.0
// All-reduce of a team's counters, and a helper that runs code on the leading block only, for a team of one block.
#pragma once

#include "plugins/cuda/search/search_table.cuh"

namespace asr::gpu {

// Reduces the counters of all blocks after a step, which has followed the arcs of `list`, if any. All threads get the totals.
template <typename Team>
__device__ inline StepTotals team_all_reduce(const Table<Team> *table, bool, uint32_t) {
  SearchState &search = table->search;
  const uint32_t turn = search.turn;
  __syncthreads();
  if (threadIdx.x == 0) {
    search.step_totals[turn][0] = {search.overflow, 0, search.n_used, search.best};
    search.turn = turn ^ 1;
  }
  __syncthreads();
  return search.step_totals[turn][0];
}

// Returns true if the list of this block has items. The block is its whole team, so its own list decides.
template <typename Team>
__device__ inline bool has_arcs_left(const Table<Team> *table, uint32_t list, const StepTotals *) {
  return table->search.list_size[list] != 0;
}

// Copies the number of the newest frame's links from the job.
__device__ inline void note_newest_links(SearchState &search) {
  const SearchLinks &lattice = search.job.lattice;
  if (lattice.n_unpruned > 0) search.n_newest_links = lattice.n_links - lattice.frames[lattice.n_frames - 1].first_link;
}

template <typename Action>
__device__ inline void team_run_on_leader(BlockTeam, SearchState &search, const Action &action) {
  action();
}

}  // namespace asr::gpu
