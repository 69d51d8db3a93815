// SPDX-License-Identifier: Apache-2.0
// All-reduce of the blocks' counters, and a helper that runs code on the leading block only.
#pragma once

#include "plugins/cuda/kernels/search_mail.cuh"
#include "plugins/cuda/kernels/search_table.cuh"

namespace asr::cuda {

// Reduces the counters of all blocks after a step, which has followed the arcs of `list`, if any, and sent them by mail. All
// blocks wait for each other and get the same totals.
template <typename Team>
__device__ inline StepTotals team_all_reduce(const Table<Team> *table, bool emitting, uint32_t list) {
  SearchState &search = table->search;
  const uint32_t turn = search.turn, mail = list == kNoList ? kMails : mail_of(emitting, list);
  if (list == kNoList) list = 0;
  __syncthreads();
  if (threadIdx.x < Team::size()) {
    *Team::of_block(&search.step_totals[turn][Team::rank()], threadIdx.x) = {search.overflow, search.n_followed[list],
                                                                             search.n_used, search.best};
    if (Team::kIsCluster && mail < kMails) {
      uint32_t &n_sent = search.n_sent[threadIdx.x];
      *Team::of_block(&search.mail[mail].n_received[Team::rank()], threadIdx.x) =
          min(n_sent, search.mail[mail].box_size(threadIdx.x == Team::rank()));
      n_sent = 0;
    }
  }
  if (threadIdx.x == 0) {
    search.turn = turn ^ 1;
    // Every block has read the mails that nobody sends to in this step. A frame may end with either mail of epsilon arcs.
    for (uint32_t other = mail == kMails ? 0 : 1; other < kMails; ++other) {
      if (other != mail && mail != 0) search.mail[other].n_spilled = 0;
    }
  }
  Team::sync();
  if (!Team::kIsCluster) return search.step_totals[turn][0];
  StepTotals one{0, 0, 0, 0xffffffffu};
  if (lane_number() < Team::size()) one = search.step_totals[turn][lane_number()];
  return {warp_or(one.overflow), warp_sum(one.n_followed), warp_sum(one.n_used), warp_min(one.best)};
}

// Copies the number of the newest frame's links from the job.
__device__ inline void note_newest_links(SearchState &search) {
  const SearchLinks &lattice = search.job.lattice;
  if (lattice.n_unpruned > 0) search.n_newest_links = lattice.n_links - lattice.frames[lattice.n_frames - 1].first_link;
}

// Runs an action on the leading block only, once the others have read what they need of the job and of memory. The others then
// copy the job.
template <typename Team, typename Action>
__device__ inline void team_run_on_leader(SearchState &search, const Action &action) {
  if (Team::kIsCluster) Team::sync();
  if (Team::rank() == 0) action();
  if (!Team::kIsCluster) return;
  if (threadIdx.x == 0) search.has_own_tokens = false;  // their memory may have been used
  Team::sync();
  if (Team::rank() != 0) {
    const auto *const from = reinterpret_cast<const uint32_t *>(&of_leader<Team>(&search)->job);
    auto *const to = reinterpret_cast<uint32_t *>(&search.job);
    for (uint32_t i = threadIdx.x; i < sizeof(SearchJob) / sizeof(uint32_t); i += blockDim.x) to[i] = from[i];
  }
  Team::sync();
  if (threadIdx.x == 0) note_newest_links(search);
}

}  // namespace asr::cuda
