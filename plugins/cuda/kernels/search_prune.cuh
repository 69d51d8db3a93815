// SPDX-License-Identifier: Apache-2.0
// Prunes the lattice (plugins/common/kernels/search_lattice.h) on the way back through its frames (search_walk_back.cuh).
#pragma once

#include "plugins/cuda/kernels/search_gaps.cuh"
#include "plugins/cuda/kernels/search_table.cuh"
#include "plugins/cuda/kernels/search_walk_back.cuh"

namespace asr::cuda {

template <bool kInShared>
__device__ inline void block_prune_frames(SearchState &search, uint32_t most_tokens) {
  const SearchLinks &lattice = search.job.lattice;
  const uint32_t n_fixed = n_fixed_frames(&lattice);
  WalkBack<kInShared> walk(search, most_tokens);
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

// noinline: rare code must not raise the register count of every frame.
__device__ __noinline__ void block_prune(SearchState &search, bool close_gaps) {
  __builtin_assume(__isShared(&search));
  block_drop_taken(search);
  const uint32_t most_tokens = block_most_tokens(search);
  if (most_tokens <= search.n_shared_extras) {
    block_prune_frames<true>(search, most_tokens);
  } else {
    block_prune_frames<false>(search, most_tokens);
  }
  __syncthreads();
  if (threadIdx.x == 0) search.job.lattice.n_unpruned = 0;
  if (close_gaps) block_close_gaps(search);
  Table<NarrowTeam>(search).block_free_own();
  __syncthreads();
}

}  // namespace asr::cuda
