// SPDX-License-Identifier: Apache-2.0
// The lattice as it is if the utterance ends with the newest frame: pruned once more, but from the extra costs of the newest
// tokens with their final costs, and into the free place behind what the channel has, which stays as it is for the next frames.
// Only this crosses to the host, a hundredth of what is kept for the newest frames.
#pragma once

#include <cfloat>

#include "plugins/cuda/kernels/search_prune.cuh"

namespace asr::cuda {

// Of the newest frame's tokens, into extras.of_frame. Returns whether any is in a final state that counts.
template <bool kInShared>
__device__ inline bool block_end_extras(Lane &lane, const Extras<kInShared> &extras) {
  const SearchJob &job = lane.job;
  const SearchToken *const tokens = job.tokens[job.current];
  const auto final_cost = [&](uint32_t i) {
    return __fadd_rn(tokens[i].cost, job.use_final ? job.graph.final_costs[tokens[i].state] : 0.0f);
  };
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
    extras.of_frame[i] =
        __float_as_uint(__fadd_rn(__fsub_rn(cost(i), least), 0.0f));  // not -0, whose bits would be the greatest
  }
  __syncthreads();
  return reaches_final;
}

// The newest frame's tokens that are left, by their new numbers.
template <bool kInShared>
__device__ inline void block_output_tokens(Lane &lane, const Extras<kInShared> &extras, uint32_t n_left) {
  const SearchJob &job = lane.job;
  const SearchToken *const tokens = job.tokens[job.current];
  SearchToken *const left = job.tokens[job.current ^ 1];
  for (uint32_t i = threadIdx.x; i < job.n_tokens; i += blockDim.x) {
    const uint32_t number = extras.new_number[i], next = i + 1 < job.n_tokens ? extras.new_number[i + 1] : n_left;
    if (next > number) left[number] = tokens[i];
  }
}

// Writes it. Returns what was too small.
template <bool kInShared>
__device__ inline uint32_t block_write_lattice(Lane &lane) {
  SearchJob &job = lane.job;
  SearchLinks &lattice = job.lattice;
  if (threadIdx.x == 0) {
    lane.overflow = 0;
    lane.is_full = 0;
  }
  __syncthreads();
  Extras<kInShared> extras(lane);
  const bool reaches_final = block_end_extras(lane, extras);
  const uint32_t end = lattice.n_frames, n_known = lattice.first_frame + lattice.n_taken > 0 ? lattice.n_taken + 1 : 0;
  uint32_t to = lattice.n_links, n_tokens = 0;
  SearchFrame next{};
  const bool fits = 2 * end - n_known <= lattice.max_frames;
  for (uint32_t t = end; fits && t-- > n_known; extras.swap()) {
    const SearchFrame frame = lattice.frames[t];
    block_follow_back(lattice.links + frame.first_link + frame.n_emitting, frame.n_epsilon, extras);
    next = block_prune_frame(lane, frame, t > 0 ? lattice.frames[t - 1].n_tokens : 0, next, to, extras, nullptr);
    if (lane.overflow != 0) break;
    if (t + 1 == end) {
      n_tokens = next.n_tokens;
      block_output_tokens(lane, extras, n_tokens);
    }
    if (threadIdx.x == 0) lattice.frames[end + (end - 1 - t)] = next;
    to += next.n_emitting + next.n_epsilon;
  }
  __syncthreads();
  if (kInShared) Table<NarrowTeam>(lane).block_free_own();
  if (threadIdx.x == 0) job.written = {end - n_known, to - lattice.n_links, n_tokens, reaches_final ? 1u : 0u};
  const uint32_t overflow = fits ? lane.overflow : kFramesFull;
  __syncthreads();
  return overflow;
}

// Where there is no room behind links that could go, they go first.
__device__ __noinline__ void block_output(Lane &lane) {
  __builtin_assume(__isShared(&lane));
  SearchJob &job = lane.job;
  uint32_t overflow = 0;
  for (bool again = true; again;) {
    overflow = block_fits_shared(lane) ? block_write_lattice<true>(lane) : block_write_lattice<false>(lane);
    again = overflow != 0 && job.lattice.n_unpruned > 0;
    __syncthreads();
    if (again) block_prune(lane, true);
  }
  if (threadIdx.x == 0) {
    job.overflow = overflow;
    if (overflow != 0) job.status = SearchStatus::kOverflow;
  }
  __syncthreads();
}

}  // namespace asr::cuda
