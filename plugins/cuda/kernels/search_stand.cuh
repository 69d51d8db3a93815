// SPDX-License-Identifier: Apache-2.0
// Where the blocks of a team come to know the same: stands, at which each tells what it has, and what the leading block does
// alone.
#pragma once

#include "plugins/cuda/kernels/search_lane.cuh"

namespace asr::cuda {

// After a step, which has followed the items of `list` and sent `mail`, if any: waits for all, and tells all the same.
template <typename Team>
__device__ inline Standing team_stand(Lane &lane, uint32_t list, uint32_t mail = kMails) {
  const uint32_t turn = lane.turn;
  __syncthreads();
  if (threadIdx.x < Team::size()) {
    *Team::of_block(&lane.told[turn][Team::rank()], threadIdx.x) = {lane.overflow, lane.n_followed[list], lane.n_used,
                                                                    lane.best};
    if (Team::kIsCluster && mail < kMails) {
      uint32_t &n_sent = lane.n_sent[threadIdx.x];
      *Team::of_block(&lane.mail[mail].n_received[Team::rank()], threadIdx.x) =
          min(n_sent, lane.mail[mail].box_size(threadIdx.x == Team::rank()));
      n_sent = 0;
    }
  }
  if (threadIdx.x == 0) {
    lane.turn = turn ^ 1;
    // Every block has read the mails that nobody sends to in this step. A frame may end with either mail of epsilon arcs.
    for (uint32_t other = mail == kMails ? 0 : 1; other < kMails; ++other) {
      if (other != mail && mail != 0) lane.mail[other].n_spilled = 0;
    }
  }
  Team::sync();
  if (!Team::kIsCluster) return lane.told[turn][0];
  Standing one{0, 0, 0, 0xffffffffu};
  if (lane_number() < Team::size()) one = lane.told[turn][lane_number()];
  return {warp_or(one.overflow), warp_sum(one.n_followed), warp_sum(one.n_used), warp_min(one.best)};
}

// What a block tells itself of the newest frame, from the job.
__device__ inline void know_newest_links(Lane &lane) {
  const SearchLinks &lattice = lane.job.lattice;
  if (lattice.n_unpruned > 0) lane.n_newest_links = lattice.n_links - lattice.frames[lattice.n_frames - 1].first_link;
}

// Something that the leading block does alone, to the job and to what is in memory, when the others have read what they need of
// it.
template <typename Team, typename Action>
__device__ inline void team_let_leader(Lane &lane, const Action &action) {
  if (Team::kIsCluster) Team::sync();
  if (Team::rank() == 0) action();
  if (!Team::kIsCluster) return;
  if (threadIdx.x == 0) lane.knows_tokens = false;  // their place may have been used
  Team::sync();
  if (Team::rank() != 0) {
    const auto *const from = reinterpret_cast<const uint32_t *>(&of_leader<Team>(&lane)->job);
    auto *const to = reinterpret_cast<uint32_t *>(&lane.job);
    for (uint32_t i = threadIdx.x; i < sizeof(SearchJob) / sizeof(uint32_t); i += blockDim.x) to[i] = from[i];
  }
  Team::sync();
  if (threadIdx.x == 0) know_newest_links(lane);
}

}  // namespace asr::cuda
