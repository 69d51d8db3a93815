// SPDX-License-Identifier: Apache-2.0
// The parts of plugins/gpu/search/search_select-inl.h that a block does its own way. Its tokens are the channel's.
#pragma once

#include "plugins/cuda/search/search_expand.cuh"

#include "plugins/gpu/search/search_select-inl.h"  // with the log-likelihoods of search_expand.cuh

namespace asr::gpu {

template <typename Team>
__device__ inline void block_find_own_tokens(const Table<Team> *) {}

template <typename Team>
__device__ inline uint32_t n_own_tokens(const Table<Team> *table) {
  return table->search.job.n_tokens;
}

template <typename Team>
__device__ inline OwnToken own_token(const Table<Team> *table, uint32_t i) {
  const SearchToken *const token = table->search.job.tokens[table->search.job.current] + i;
  return {token->state, token->cost, i, 0, 0};
}

template <typename Team>
__device__ inline void need_arcs(const Table<Team> *table, OwnToken *token, const float *row) {
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

template <typename Team>
__device__ inline const uint32_t *team_add_bins(const Table<Team> *table) {
  __syncthreads();
  return table->search.histogram;
}

// The leading block collects the keys. There are more than kFewKeys only in a frame that is void.
template <typename Team>
__device__ inline void add_few_key(const Table<Team> *table, SearchKey key) {
  SearchState &leader = *of_leader<Team>(&table->search);
  const uint32_t index = atomicAdd(&leader.kth.n_few, 1u);
  if (index < kFewKeys) leader.few_keys[index] = key;
}
template <typename Team>
__device__ inline const SearchKey *team_share_few_keys(const Table<Team> *table, uint32_t) {
  __syncthreads();
  return table->search.few_keys;
}

}  // namespace asr::gpu
