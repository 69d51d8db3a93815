// SPDX-License-Identifier: Apache-2.0
// The lattice as it is if the utterance ends with the newest frame: pruned once more, but from the extra costs of the newest
// tokens with their final costs, and into the free place behind what the channel has, which stays as it is for the next frames.
// Only this crosses to the host, a hundredth of what is kept for the newest frames.
#pragma once

#include "plugins/cuda/kernels/search_prune.cuh"

namespace asr::cuda {

// Of the newest frame's tokens, into extras.of_frame. Returns whether any is in a final state that counts.
template <bool kInShared>
__device__ inline bool block_end_extras(Lane &lane, const Extras<kInShared> &extras) {
  const SearchJob &job = lane.job;
  const SearchToken *const tokens = job.tokens[job.current];
  const auto final_cost = [&](uint32_t i) { return end_cost(tokens + i, job.use_final, job.graph.final_costs); };
  bool reaches_final = false;
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) reaches_final |= job.use_final && final_cost(i) <= FLT_MAX;
  reaches_final = __syncthreads_or(reaches_final ? 1 : 0) != 0;
  const auto cost = [&](uint32_t i) { return reaches_final ? final_cost(i) : tokens[i].cost; };
  if (threadIdx.x == 0) lane.best = ordered(CUDART_INF_F);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) atomicMin(&lane.best, ordered(cost(i)));
  __syncthreads();
  const float least = cost_of(lane.best);
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) {
    extras.of_frame[i] = extra_of_end(cost(i), least);
  }
  __syncthreads();
  return reaches_final;
}

// The newest frame's tokens that are left, by their new numbers.
template <bool kInShared>
__device__ inline void block_output_tokens(const Lane &lane, const Extras<kInShared> &extras) {
  const SearchJob &job = lane.job;
  const SearchToken *const tokens = job.tokens[job.current];
  SearchToken *const left = job.tokens[job.current ^ 1];
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) {
    if (extras.keeps(i, job.lattice.lattice_beam)) left[extras.new_number[i]] = tokens[i];
  }
}

// Writes it; lane.overflow says if something is too small.
template <bool kInShared>
__device__ inline void block_write_lattice(Lane &lane, uint32_t most_tokens) {
  SearchJob &job = lane.job;
  const SearchLinks &lattice = job.lattice;
  // The host takes what has settled by the end of the job, also in this one.
  const uint32_t end = lattice.n_frames, n_known = n_settled_frames(lattice.last_settled, lattice.first_frame);
  const bool fits = 2 * end - n_known <= lattice.max_frames;
  if (threadIdx.x == 0) {
    lane.overflow = fits ? 0 : kFramesFull;
    lane.is_full = 0;
  }
  __syncthreads();
  if (!fits) return;
  const bool reaches_final = block_end_extras(lane, Extras<kInShared>(lane, most_tokens));
  WalkBack<kInShared> walk(lane, most_tokens);
  for (uint32_t to = lattice.n_links;; walk.step_back()) {
    walk.complete_extras();
    const SearchFrame written = walk.prune(to, false);
    if (lane.overflow != 0) break;
    if (walk.t() + 1 == end) block_output_tokens(lane, walk.extras);
    to += written.n_emitting + written.n_epsilon;
    if (threadIdx.x == 0) {
      lattice.frames[end + (end - 1 - walk.t())] = written;
      if (walk.t() + 1 == end) job.written.n_tokens = written.n_tokens;
      if (walk.t() == n_known) {
        job.written.n_frames = end - n_known, job.written.n_links = to - lattice.n_links;
        job.written.reached_final = reaches_final ? 1 : 0;
      }
    }
    if (walk.t() == n_known) break;
  }
  walk.finish();
  __syncthreads();
  Table<NarrowTeam>(lane).block_free_own();
}

// Where there is no room behind links that could go, they go first.
__device__ __noinline__ void block_output(Lane &lane) {
  __builtin_assume(__isShared(&lane));
  SearchJob &job = lane.job;
  for (bool again = true; again;) {
    const uint32_t most_tokens = block_most_tokens(lane);
    if (most_tokens <= lane.n_shared_extras) {
      block_write_lattice<true>(lane, most_tokens);
    } else {
      block_write_lattice<false>(lane, most_tokens);
    }
    again = lane.overflow != 0 && job.lattice.n_unpruned > 0;
    __syncthreads();
    if (again) block_prune(lane, true);
  }
  if (threadIdx.x == 0) {
    job.overflow = lane.overflow;
    job.has_written = lane.overflow == 0;
    if (lane.overflow != 0 && job.status == kSearchRunning) job.status = kSearchOverflow;
  }
  __syncthreads();
}

// What is wanted after the frames.
__device__ __noinline__ void block_give_results(Lane &lane) {
  __builtin_assume(__isShared(&lane));
  SearchJob &job = lane.job;
  const bool wants_path = job.path.end != nullptr && !job.has_path, wants_lattice = job.output && !job.has_written;
  if (wants_path) {
    block_find_path(path_job_of(job), lane.path);
    if (threadIdx.x == 0) job.has_path = true;
  }
  if (wants_lattice) block_output(lane);
  __syncthreads();
}

}  // namespace asr::cuda
