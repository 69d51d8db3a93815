// SPDX-License-Identifier: Apache-2.0
// Where the blocks of a team come to know the same: stands, at which each tells what it has, and what the leading block does
// alone.
#pragma once

#include "plugins/cuda/kernels/search_lane.cuh"

namespace asr::cuda {

// After a step that made items of `list`: waits for all, and tells all the same.
template <typename Team>
__device__ inline Standing team_stand(Lane &lane, uint32_t list) {
  const uint32_t turn = lane.turn;
  __syncthreads();
  if (threadIdx.x < Team::size()) {
    *Team::of_block(&lane.told[turn][Team::rank()], threadIdx.x) = {
        lane.overflow, static_cast<uint32_t>(lane.list_size[list] >> 32), lane.n_used, lane.best};
  }
  if (threadIdx.x == 0) lane.turn = turn ^ 1;
  Team::sync();
  if (!Team::kIsCluster) return lane.told[turn][0];
  Standing one{0, 0, 0, 0xffffffffu};
  if (lane_number() < Team::size()) one = lane.told[turn][lane_number()];
  return {warp_or(one.overflow), warp_sum(one.n_items), warp_sum(one.n_used), warp_min(one.best)};
}

// Something that the leading block does alone, to the job and to what is in memory.
template <typename Team, typename Action>
__device__ inline void team_let_leader(Lane &lane, const Action &action) {
  if (Team::rank() == 0) action();
  if (!Team::kIsCluster) return;
  Team::sync();
  if (Team::rank() != 0) {
    const auto *const from = reinterpret_cast<const uint32_t *>(&of_leader<Team>(&lane)->job);
    auto *const to = reinterpret_cast<uint32_t *>(&lane.job);
    for (uint32_t i = threadIdx.x; i < sizeof(SearchJob) / sizeof(uint32_t); i += blockDim.x) to[i] = from[i];
  }
  Team::sync();
}

}  // namespace asr::cuda
