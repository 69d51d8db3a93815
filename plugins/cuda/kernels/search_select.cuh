// SPDX-License-Identifier: Apache-2.0
// Step 1 of a frame: selects the tokens that are expanded (plugins/common/kernels/search_select.h). Tokens of the bin that
// holds the k-th smallest key are compared with each other if they are few; digits are looked for only if they are many.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"

#include "plugins/common/kernels/search_select.h"  // with the log-likelihoods of search_expand.cuh

namespace asr::cuda {

// Loads the tokens that a block of a cluster owns from the channel's.
template <typename Team>
__device__ inline void block_load_tokens(SearchState &search) {
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

// Calls action(state, cost) for the tokens that the block owns.
template <typename Team, typename Action>
__device__ inline void for_own_tokens(const SearchState &search, const Action &action) {
  if constexpr (Team::kIsCluster) {
    for (uint32_t i = threadIdx.x; i < min(search.n_own_tokens, search.max_own_tokens); i += blockDim.x) {
      action(search.own_tokens[i].state, search.own_tokens[i].cost);
    }
  } else {
    const SearchToken *const tokens = search.job.tokens[search.job.current];
    for (uint32_t i = threadIdx.x; i < search.job.n_tokens; i += blockDim.x) action(tokens[i].state, tokens[i].cost);
  }
}

// The histograms of all blocks together.
template <typename Team>
__device__ inline const uint32_t *team_add_histograms(SearchState &search) {
  Team::sync();
  if constexpr (!Team::kIsCluster) {
    return search.histogram;
  } else {
    // A block adds up its share of the bins, eight threads each, and sends it to the others.
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

// The bin with the k-th smallest of the tokens for which bin_of(state, cost, &bin) is true; also how many are in the bin, and
// which of these it is.
template <typename Team, typename BinOf>
__device__ inline uint32_t team_find_bin(SearchState &search, uint32_t k, const BinOf &bin_of) {
  const uint32_t n_own = (kBins + blockDim.x - 1) / blockDim.x, first_bin = threadIdx.x * n_own;
  uint32_t *const own_histogram = search.histogram;
  __builtin_assume(__isShared(own_histogram));
  for (uint32_t b = threadIdx.x; b < kBins; b += blockDim.x) own_histogram[b] = 0;
  // All have read what was found before.
  __syncthreads();
  if (threadIdx.x == 0)
    search.bin = search.n_in_bin = search.n_left = 0;  // stays in a frame that is void: the same in all blocks
  for_own_tokens<Team>(search, [&](uint32_t state, float cost) {
    uint32_t bin;
    if (bin_of(state, cost, &bin)) atomicAdd(&own_histogram[bin], 1u);
  });
  const uint32_t *const histogram = team_add_histograms<Team>(search);
  uint32_t n = 0, total;
  for (uint32_t b = first_bin; b < min(first_bin + n_own, kBins); ++b) n += histogram[b];
  uint32_t before = block_scan(n, search.sums, &total);
  if (before < k && k <= before + n) {
    uint32_t bin = first_bin;
    while (before + histogram[bin] < k) before += histogram[bin++];
    search.bin = bin, search.n_in_bin = histogram[bin], search.n_left = k - before;
  }
  __syncthreads();
  return search.bin;
}

// The key with search.n_left - 1 of those below it for which in_bin(cost) is true, of which there are search.n_in_bin, at most
// kFewKeys. The leading block collects them, and each reads what it has.
template <typename Team, typename InBin>
__device__ inline unsigned long long team_kth_of_few(SearchState &search, const InBin &in_bin) {
  unsigned long long *const collected = of_leader<Team>(search.few_keys);
  for_own_tokens<Team>(search, [&](uint32_t state, float cost) {
    if (!in_bin(cost)) return;
    const uint32_t index = atomicAdd(of_leader<Team>(&search.n_few), 1u);
    if (index < kFewKeys) collected[index] = make_key(cost, state);  // more only in a frame that is void
  });
  Team::sync();
  const uint32_t n = search.n_in_bin, i = threadIdx.x;
  const unsigned long long key = i < n ? collected[i] : kNoKey;
  if (i < n && Team::rank() != 0) search.few_keys[i] = key;
  __syncthreads();
  uint32_t n_below = 0;
  for (uint32_t other = 0; i < n && other < n; ++other) n_below += search.few_keys[other] < key ? 1 : 0;
  if (i < n && n_below + 1 == search.n_left) search.threshold = key;
  __syncthreads();
  return search.threshold;
}

// The k-th smallest key of the tokens; 0 < k <= n_tokens.
template <typename Team>
__device__ inline unsigned long long team_kth_key(SearchState &search, uint32_t k) {
  const float best = search.job.best, scale = kBins / search.job.beam.beam;
  if (threadIdx.x == 0) search.n_few = 0;
  const auto bin_of = [&](float cost) { return bin_of_cost(cost, best, scale); };
  KeyPrefix known{0, 64, 0};
  known.bin = team_find_bin<Team>(search, k, [&](uint32_t, float cost, uint32_t *bin) {
    *bin = bin_of(cost);
    return true;
  });
  if (search.n_in_bin <= kFewKeys) {
    return team_kth_of_few<Team>(search, [&](float cost) { return bin_of(cost) == known.bin; });
  }
  do {
    const uint32_t digit = team_find_bin<Team>(search, search.n_left, [&](uint32_t state, float cost, uint32_t *bin) {
      const unsigned long long key = make_key(cost, state);
      *bin = next_digit(key, known.top);
      return has_prefix(known, bin_of(cost), key);
    });
    known = add_digit(known, digit);
  } while (known.top > 0 && search.n_in_bin != search.n_left);
  if (threadIdx.x == 0) search.threshold = 0;
  __syncthreads();
  for_own_tokens<Team>(search, [&](uint32_t state, float cost) {
    const unsigned long long key = make_key(cost, state);
    if (has_prefix(known, bin_of(cost), key)) atomicMax(&search.threshold, key);
  });
  Team::sync();
  unsigned long long threshold = 0;
  for (uint32_t rank = 0; rank < Team::size(); ++rank) threshold = max(threshold, *Team::of_block(&search.threshold, rank));
  return threshold;
}

template <typename Team>
__device__ inline unsigned long long team_threshold(SearchState &search) {
  const SearchJob &job = search.job;
  const SearchBeam &beam = job.beam;
  const uint32_t k = active_limit(&beam, job.n_tokens, job.n_within);
  if (k > 0) return team_kth_key<Team>(search, k);
  return beam_threshold(job.best, beam.beam, beam.min_active, job.n_tokens);
}

// Lowers the first bound by arcs of a best token. Blocks of a cluster need none: they enter nothing into a table before the
// bound is known.
__device__ inline void lower_best(SearchState &search, const float *row, uint32_t first_arc, uint32_t n_arcs) {
  const float least = least_cost_of_first_arcs(&search.job.beam, search.job.graph.arcs, first_arc, n_arcs, row);
  if (least <= FLT_MAX) atomicMin(&search.best, ordered(least));
}

// Puts the active tokens, with costs relative to the best one's, on list 0: each block those that it owns.
template <typename Team>
__device__ inline void team_select(const Table<Team> *table, const float *row) {
  SearchState &search = table->search;
  if (Team::kIsCluster && !search.has_own_tokens) block_load_tokens<Team>(search);
  const unsigned long long threshold = team_threshold<Team>(search);
  const SearchJob &job = search.job;
  const SearchToken *const tokens = job.tokens[job.current];
  const uint32_t n_tokens = Team::kIsCluster ? min(search.n_own_tokens, search.max_own_tokens) : job.n_tokens;
  unsigned long long n_active = 0;
  for (uint32_t first = warp_number() * kWarp; first < n_tokens; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    OwnToken token{0, 0, 0, 0, 0};
    bool active = false;
    if (i < n_tokens) {
      if constexpr (Team::kIsCluster) {
        token = search.own_tokens[i];
      } else {
        token = {tokens[i].state, tokens[i].cost, i, 0, 0};
      }
      active = make_key(token.cost, token.state) <= threshold;
    }
    if (!Team::kIsCluster && active) {
      token = with_arcs(job.graph, token);
      if (token.cost == job.best) lower_best(search, row, token.first_arc, token.n_arcs);
    }
    n_active += __popc(__ballot_sync(kAllLanes, active));
    warp_add_item(search, 0, token.first_arc, active ? token.n_arcs : 0, subtract_rounded(token.cost, job.best), token.number);
  }
  if (lane_number() == 0 && n_active > 0) atomicAdd(&search.n_active, n_active);
}

}  // namespace asr::cuda
