// SPDX-License-Identifier: Apache-2.0
// Removes the links that cannot be in the final lattice (docs/search.md, "The lattice"): extra costs are found from the newest
// frame backwards (search_walk_back.cuh), with 0 for all of its tokens, until a frame has the extra costs it had the last time.
// In a frame they are the fixed point of its epsilon links; then its tokens within the beam are numbered anew, and its links
// within the beam move to the front of the frame's place.
#pragma once

#include "plugins/common/kernels/lattice_pieces.h"
#include "plugins/cuda/kernels/search_gaps.cuh"
#include "plugins/cuda/kernels/search_table.cuh"
#include "plugins/cuda/kernels/search_walk_back.cuh"

namespace asr::cuda {

template <bool kInShared>
__device__ inline void block_prune_frames(Lane &lane, uint32_t most_tokens) {
  const SearchLinks &lattice = lane.job.lattice;
  const uint32_t n_fixed = n_settled_frames(lattice.last_settled, lattice.first_frame);
  WalkBack<kInShared> walk(lane, most_tokens);
  for (uint32_t i = threadIdx.x; i < walk.frame().n_tokens; i += blockDim.x) walk.extras.of_frame[i] = 0;
  for (;; walk.step_back()) {
    walk.complete_extras();
    if (walk.is_as_before()) break;
    const SearchFrame pruned = walk.prune(walk.frame().first_link, true);
    if (threadIdx.x == 0) lattice.frames[walk.t()] = pruned;
    if (walk.t() == n_fixed) break;
  }
  walk.finish();
}

// Not inlined, as the registers of what happens now and then are not to be taken from every frame.
__device__ __noinline__ void block_prune(Lane &lane, bool close_gaps) {
  __builtin_assume(__isShared(&lane));
  block_drop_taken(lane);
  const uint32_t most_tokens = block_most_tokens(lane);
  if (most_tokens <= lane.n_shared_extras) {
    block_prune_frames<true>(lane, most_tokens);
  } else {
    block_prune_frames<false>(lane, most_tokens);
  }
  __syncthreads();
  if (threadIdx.x == 0) lane.job.lattice.n_unpruned = 0;
  if (close_gaps) block_close_gaps(lane);
  Table<NarrowTeam>(lane).block_free_own();
  __syncthreads();
}

}  // namespace asr::cuda
