// SPDX-License-Identifier: Apache-2.0
// Writes the lattice as it is if the utterance ends with the newest frame (plugins/common/kernels/search_lattice.h).
#pragma once

#include "plugins/cuda/kernels/search_prune.cuh"

namespace asr::cuda {

// Fills extras.of_frame with the extra costs of the newest tokens.
template <bool kInShared>
__device__ inline void block_end_extras(SearchState &search, const Extras<kInShared> &extras) {
  const SearchJob &job = search.job;
  const SearchToken *const tokens = job.tokens[job.current];
  if (threadIdx.x < 2) search.least[threadIdx.x] = ordered(CUDART_INF_F);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) {
    lower_end_costs(tokens + i, job.use_final, job.graph.final_costs, search.least);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) {
    extras.of_frame[i] = end_extra(tokens + i, job.graph.final_costs, search.least);
  }
  __syncthreads();
}

// The newest frame's tokens that are left, by their new numbers.
template <bool kInShared>
__device__ inline void block_output_tokens(const SearchState &search, const Extras<kInShared> &extras) {
  const SearchJob &job = search.job;
  const SearchToken *const tokens = job.tokens[job.current];
  SearchToken *const left = job.tokens[job.current ^ 1];
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) {
    if (extras.keeps(i, job.lattice.lattice_beam)) left[extras.new_number[i]] = tokens[i];
  }
}

// Writes it; search.overflow says if something is too small.
template <bool kInShared>
__device__ inline void block_write_lattice(SearchState &search, uint32_t most_tokens) {
  SearchJob &job = search.job;
  const SearchLinks &lattice = job.lattice;
  // The host takes what has settled by the end of the job, also in this one.
  const uint32_t end = lattice.n_frames, n_known = n_fixed_frames(&lattice);
  const bool fits = output_fits(&lattice, n_known);
  if (threadIdx.x == 0) {
    search.overflow = fits ? 0 : kFramesFull;
    search.is_full = 0;
  }
  __syncthreads();
  if (!fits) return;
  block_end_extras(search, Extras<kInShared>(search, most_tokens));
  WalkBack<kInShared> walk(search, most_tokens);
  for (uint32_t to = lattice.n_links;; walk.step_back()) {
    walk.complete_extras();
    const SearchFrame written = walk.prune(to, false);
    if (search.overflow != 0) break;
    if (walk.t() + 1 == end) block_output_tokens(search, walk.extras);
    to += written.n_emitting + written.n_epsilon;
    if (threadIdx.x == 0) {
      lattice.frames[output_entry(&lattice, walk.t())] = written;
      if (walk.t() + 1 == end) job.written.n_tokens = written.n_tokens;
      if (walk.t() == n_known) {
        job.written.n_frames = end - n_known, job.written.n_links = to - lattice.n_links;
        job.written.reached_final = reaches_final(search.least) ? 1 : 0;
      }
    }
    if (walk.t() == n_known) break;
  }
  walk.finish();
  __syncthreads();
  Table<NarrowTeam>(search).block_free_own();
}

// Writes the lattice. If it does not fit behind links that could go, these are pruned first.
__device__ __noinline__ void block_output(SearchState &search) {
  __builtin_assume(__isShared(&search));
  SearchJob &job = search.job;
  for (bool again = true; again;) {
    const uint32_t most_tokens = block_most_tokens(search);
    if (most_tokens <= search.n_shared_extras) {
      block_write_lattice<true>(search, most_tokens);
    } else {
      block_write_lattice<false>(search, most_tokens);
    }
    again = search.overflow != 0 && job.lattice.n_unpruned > 0;
    __syncthreads();
    if (again) block_prune(search, true);
  }
  if (threadIdx.x == 0) {
    job.overflow = search.overflow;
    job.has_written = search.overflow == 0;
    if (search.overflow != 0 && job.status == kSearchRunning) job.status = kSearchOverflow;
  }
  __syncthreads();
}

// Writes the path and the lattice that are wanted after the frames.
__device__ __noinline__ void block_give_results(SearchState &search) {
  __builtin_assume(__isShared(&search));
  SearchJob &job = search.job;
  const bool wants_path = job.path.end != nullptr && !job.has_path, wants_lattice = job.output && !job.has_written;
  if (wants_path) {
    block_find_path(path_job_of(job), search.path);
    if (threadIdx.x == 0) job.has_path = true;
  }
  if (wants_lattice) block_output(search);
  __syncthreads();
}

}  // namespace asr::cuda
