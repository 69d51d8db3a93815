// SPDX-License-Identifier: Apache-2.0
// The parts of plugins/common/kernels/search_select.h that a team does its own way. The tokens of a single block are the
// channel's. In a cluster each block has its own in shared memory, with their arcs.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"

#include "plugins/common/kernels/search_select.h"  // with the log-likelihoods of search_expand.cuh

namespace asr::cuda {

template <typename Team>
__device__ inline void block_find_own_tokens(const Table<Team> *table) {
  SearchState &search = table->search;
  if (!Team::kIsCluster || search.has_own_tokens) return;
  const SearchToken *const tokens = search.job.tokens[search.job.current];
  if (threadIdx.x == 0) search.n_own_tokens = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < search.job.n_tokens; i += blockDim.x) {
    const SearchToken token = tokens[i];
    if (owner_of<Team>(token.state) != Team::rank()) continue;
    add_own_token(search, atomicAdd(&search.n_own_tokens, 1u), with_arcs(search.job.graph, {token.state, token.cost, i, 0, 0}));
  }
  __syncthreads();
  if (threadIdx.x == 0) search.has_own_tokens = true;
}

template <typename Team>
__device__ inline uint32_t n_own_tokens(const Table<Team> *table) {
  const SearchState &search = table->search;
  return Team::kIsCluster ? min(search.n_own_tokens, search.max_own_tokens) : search.job.n_tokens;
}

template <typename Team>
__device__ inline OwnToken own_token(const Table<Team> *table, uint32_t i) {
  const SearchState &search = table->search;
  if constexpr (Team::kIsCluster) return search.own_tokens[i];
  const SearchToken *const token = search.job.tokens[search.job.current] + i;
  return {token->state, token->cost, i, 0, 0};
}

// Blocks of a cluster need no first bound: they enter nothing into a table before the bound is known.
template <typename Team>
__device__ inline void need_arcs(const Table<Team> *table, OwnToken *token, const float *row) {
  if constexpr (Team::kIsCluster) return;
  SearchState &search = table->search;
  set_arcs(search.job.graph.begins, token);
  if (token->cost == search.job.best) lower_best(&search, search.job.graph.arcs, token, row);
}

template <typename Team>
__device__ inline uint32_t *bins(const Table<Team> *table) {
  uint32_t *const bins = table->search.histogram;
  __builtin_assume(__isShared(bins));
  return bins;
}
template <typename Team>
__device__ inline void release_bins(const Table<Team> *) {}

// In a cluster a block adds up its share of the bins, eight threads each, and sends it to the others.
template <typename Team>
__device__ inline const uint32_t *team_add_bins(const Table<Team> *table) {
  SearchState &search = table->search;
  Team::sync();
  if constexpr (!Team::kIsCluster) {
    return search.histogram;
  } else {
    constexpr uint32_t kAdders = 8, kBinsOfWarp = kWarp / kAdders;
    const uint32_t n_bins = (kBins / kBinsOfWarp + Team::size() - 1) / Team::size() * kBinsOfWarp;
    const uint32_t adder = threadIdx.x % kAdders;
    for (uint32_t b = threadIdx.x / kAdders; b < n_bins; b += blockDim.x / kAdders) {
      const uint32_t bin = Team::rank() * n_bins + b;
      uint32_t n = 0;
      for (uint32_t rank = adder; rank < Team::size() && bin < kBins; rank += kAdders)
        n += *Team::of_block(&search.histogram[bin], rank);
      for (uint32_t d = 1; d < kAdders; d *= 2) n += __shfl_xor_sync(kAllLanes, n, d);
      for (uint32_t rank = adder; rank < Team::size() && bin < kBins; rank += kAdders)
        *Team::of_block(&search.team_histogram[bin], rank) = n;
    }
    Team::sync();
    return search.team_histogram;
  }
}

// The leading block collects the keys, and the others copy them. There are more than kFewKeys only in a frame that is void.
template <typename Team>
__device__ inline void add_few_key(const Table<Team> *table, SearchKey key) {
  SearchState &leader = *of_leader<Team>(&table->search);
  const uint32_t index = atomicAdd(&leader.kth.n_few, 1u);
  if (index < kFewKeys) leader.few_keys[index] = key;
}
template <typename Team>
__device__ inline const SearchKey *team_share_few_keys(const Table<Team> *table, uint32_t n) {
  SearchState &search = table->search;
  Team::sync();
  if (!Team::kIsCluster) return search.few_keys;
  const SearchKey *const collected = of_leader<Team>(search.few_keys);
  if (Team::rank() != 0 && threadIdx.x < n) search.few_keys[threadIdx.x] = collected[threadIdx.x];
  __syncthreads();
  return search.few_keys;
}

}  // namespace asr::cuda
