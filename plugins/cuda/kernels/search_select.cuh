// SPDX-License-Identifier: Apache-2.0
// Step 1 of a frame: which tokens are expanded. The beam, min_active and max_active all come down to one threshold of the
// keys (cost, state). Where one of the last two cuts, it is the k-th smallest key, found exactly: a histogram over the beam
// tells the bin of costs that it is in. The tokens of that bin are few and compared with each other; where they are many,
// digits of 11 bits from the top tell the rest, until a bin is taken whole. Most frames need none of that.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"

namespace asr::cuda {

// In a cluster: the tokens that the block owns, from the channel's.
template <typename Team>
__device__ inline void block_load_tokens(Lane &lane) {
  const SearchToken *const tokens = lane.job.tokens[lane.job.current];
  if (threadIdx.x == 0) lane.n_own_tokens = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < lane.job.n_tokens; i += blockDim.x) {
    const SearchToken token = tokens[i];
    if (owner_of<Team>(token.state) != Team::rank()) continue;
    add_own_token(lane, atomicAdd(&lane.n_own_tokens, 1u), with_arcs(lane.job.graph, {token.state, token.cost, i, 0, 0}));
  }
  __syncthreads();
  if (threadIdx.x == 0) lane.knows_tokens = true;
}

// Calls action(state, cost) for the tokens that the block owns.
template <typename Team, typename Action>
__device__ inline void for_own_tokens(const Lane &lane, const Action &action) {
  if constexpr (Team::kIsCluster) {
    for (uint32_t i = threadIdx.x; i < min(lane.n_own_tokens, lane.max_own_tokens); i += blockDim.x) {
      action(lane.own_tokens[i].state, lane.own_tokens[i].cost);
    }
  } else {
    const SearchToken *const tokens = lane.job.tokens[lane.job.current];
    for (uint32_t i = threadIdx.x; i < lane.job.n_tokens; i += blockDim.x) action(tokens[i].state, tokens[i].cost);
  }
}

// The histograms of all blocks together.
template <typename Team>
__device__ inline const uint32_t *team_add_histograms(Lane &lane) {
  Team::sync();
  if constexpr (!Team::kIsCluster) {
    return lane.histogram;
  } else {
    // A block adds up its share of the bins, eight threads each, and tells the others.
    constexpr uint32_t kAdders = 8, kBinsOfWarp = kWarp / kAdders;
    const uint32_t n_bins = (kBins / kBinsOfWarp + Team::size() - 1) / Team::size() * kBinsOfWarp;
    const uint32_t adder = threadIdx.x % kAdders;
    for (uint32_t b = threadIdx.x / kAdders; b < n_bins; b += blockDim.x / kAdders) {
      const uint32_t bin = Team::rank() * n_bins + b;
      uint32_t n = 0;
      for (uint32_t rank = adder; rank < Team::size() && bin < kBins; rank += kAdders)
        n += *Team::of_block(&lane.histogram[bin], rank);
      for (uint32_t d = 1; d < kAdders; d *= 2) n += __shfl_xor_sync(kAllLanes, n, d);
      for (uint32_t rank = adder; rank < Team::size() && bin < kBins; rank += kAdders)
        *Team::of_block(&lane.team_histogram[bin], rank) = n;
    }
    Team::sync();
    return lane.team_histogram;
  }
}

// The bin with the k-th smallest of the tokens for which bin_of(state, cost, &bin) is true; also how many are in the bin, and
// which of these it is.
template <typename Team, typename BinOf>
__device__ inline uint32_t team_find_bin(Lane &lane, uint32_t k, const BinOf &bin_of) {
  const uint32_t n_own = (kBins + blockDim.x - 1) / blockDim.x, first_bin = threadIdx.x * n_own;
  uint32_t *const own_histogram = lane.histogram;
  __builtin_assume(__isShared(own_histogram));
  for (uint32_t b = threadIdx.x; b < kBins; b += blockDim.x) own_histogram[b] = 0;
  // All have read what was found before.
  __syncthreads();
  if (threadIdx.x == 0) lane.bin = lane.n_in_bin = lane.n_left = 0;  // stays in a frame that is void: the same in all blocks
  for_own_tokens<Team>(lane, [&](uint32_t state, float cost) {
    uint32_t bin;
    if (bin_of(state, cost, &bin)) atomicAdd(&own_histogram[bin], 1u);
  });
  const uint32_t *const histogram = team_add_histograms<Team>(lane);
  uint32_t n = 0, total;
  for (uint32_t b = first_bin; b < min(first_bin + n_own, kBins); ++b) n += histogram[b];
  uint32_t before = block_scan(n, lane.sums, &total);
  if (before < k && k <= before + n) {
    uint32_t bin = first_bin;
    while (before + histogram[bin] < k) before += histogram[bin++];
    lane.bin = bin, lane.n_in_bin = histogram[bin], lane.n_left = k - before;
  }
  __syncthreads();
  return lane.bin;
}

// The key with lane.n_left - 1 of those below it for which in_bin(cost) is true, of which there are lane.n_in_bin, at most
// kFewKeys. The leading block collects them, and each reads what it has.
template <typename Team, typename InBin>
__device__ inline unsigned long long team_kth_of_few(Lane &lane, const InBin &in_bin) {
  unsigned long long *const collected = of_leader<Team>(lane.few_keys);
  for_own_tokens<Team>(lane, [&](uint32_t state, float cost) {
    if (!in_bin(cost)) return;
    const uint32_t place = atomicAdd(of_leader<Team>(&lane.n_few), 1u);
    if (place < kFewKeys) collected[place] = make_key(cost, state);  // more only in a frame that is void
  });
  Team::sync();
  const uint32_t n = lane.n_in_bin, i = threadIdx.x;
  const unsigned long long key = i < n ? collected[i] : kNoKey;
  if (i < n && Team::rank() != 0) lane.few_keys[i] = key;
  __syncthreads();
  uint32_t n_below = 0;
  for (uint32_t other = 0; i < n && other < n; ++other) n_below += lane.few_keys[other] < key ? 1 : 0;
  if (i < n && n_below + 1 == lane.n_left) lane.threshold = key;
  __syncthreads();
  return lane.threshold;
}

// The k-th smallest key of the tokens; 0 < k <= n_tokens.
template <typename Team>
__device__ inline unsigned long long team_kth_key(Lane &lane, uint32_t k) {
  const float best = lane.job.best, scale = kBins / lane.job.beam.beam;
  if (threadIdx.x == 0) lane.n_few = 0;
  const auto bin_of_cost = [&](float cost) {
    return min(kBins - 1, static_cast<uint32_t>(multiply_rounded(subtract_rounded(cost, best), scale)));
  };
  const uint32_t cost_bin = team_find_bin<Team>(lane, k, [&](uint32_t, float cost, uint32_t *bin) {
    *bin = bin_of_cost(cost);
    return true;
  });
  if (lane.n_in_bin <= kFewKeys) {
    return team_kth_of_few<Team>(lane, [&](float cost) { return bin_of_cost(cost) == cost_bin; });
  }
  unsigned long long prefix = 0;
  uint32_t top = 64;
  const auto agrees = [&](float cost, unsigned long long key) {
    return bin_of_cost(cost) == cost_bin && (top == 64 || key >> top == prefix);
  };
  do {
    const uint32_t width = min(11u, top), shift = top - width;
    const uint32_t digit = team_find_bin<Team>(lane, lane.n_left, [&](uint32_t state, float cost, uint32_t *bin) {
      const unsigned long long key = make_key(cost, state);
      *bin = static_cast<uint32_t>(key >> shift) & ((1u << width) - 1);
      return agrees(cost, key);
    });
    prefix = prefix << width | digit;
    top = shift;
  } while (top > 0 && lane.n_in_bin != lane.n_left);
  if (threadIdx.x == 0) lane.threshold = 0;
  __syncthreads();
  for_own_tokens<Team>(lane, [&](uint32_t state, float cost) {
    const unsigned long long key = make_key(cost, state);
    if (agrees(cost, key)) atomicMax(&lane.threshold, key);
  });
  Team::sync();
  unsigned long long threshold = 0;
  for (uint32_t rank = 0; rank < Team::size(); ++rank) threshold = max(threshold, *Team::of_block(&lane.threshold, rank));
  return threshold;
}

template <typename Team>
__device__ inline unsigned long long team_threshold(Lane &lane) {
  const SearchJob &job = lane.job;
  if (job.n_within < job.beam.min_active) {
    return job.n_tokens <= job.beam.min_active ? ~0ull : team_kth_key<Team>(lane, job.beam.min_active);
  }
  if (job.n_within > job.beam.max_active) return team_kth_key<Team>(lane, job.beam.max_active);
  return make_key(add_rounded(job.best, job.beam.beam), 0xffffffffu);
}

// A first bound for the emitting arcs: few arcs of a best token are enough to keep most of what is beyond the beam out of the
// table. In a cluster nothing is entered before the bound is known.
__device__ inline void lower_best(Lane &lane, const float *row, uint32_t first_arc, uint32_t n_arcs) {
  float least = CUDART_INF_F;
#pragma unroll
  for (uint32_t a = 0; a < 4; ++a) {
    if (a >= n_arcs) break;
    const SearchArc arc = lane.job.graph.arcs[first_arc + a];
    least = fminf(least, arc_cost(&lane.job.beam, true, log_likelihood_of(row, arc), &arc, 0.0f));
  }
  if (least <= FLT_MAX) atomicMin(&lane.best, ordered(least));
}

// Puts the active tokens, with costs relative to the best one's, on list 0: each block those that it owns.
template <typename Team>
__device__ inline void team_select(Lane &lane, const float *row) {
  if (Team::kIsCluster && !lane.knows_tokens) block_load_tokens<Team>(lane);
  const unsigned long long threshold = team_threshold<Team>(lane);
  const SearchJob &job = lane.job;
  const SearchToken *const tokens = job.tokens[job.current];
  const uint32_t n_tokens = Team::kIsCluster ? min(lane.n_own_tokens, lane.max_own_tokens) : job.n_tokens;
  unsigned long long n_active = 0;
  for (uint32_t first = warp_number() * kWarp; first < n_tokens; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    OwnToken token{0, 0, 0, 0, 0};
    bool active = false;
    if (i < n_tokens) {
      if constexpr (Team::kIsCluster) {
        token = lane.own_tokens[i];
      } else {
        token = {tokens[i].state, tokens[i].cost, i, 0, 0};
      }
      active = make_key(token.cost, token.state) <= threshold;
    }
    if (!Team::kIsCluster && active) {
      token = with_arcs(job.graph, token);
      if (token.cost == job.best) lower_best(lane, row, token.first_arc, token.n_arcs);
    }
    n_active += __popc(__ballot_sync(kAllLanes, active));
    warp_add_item(lane, 0, token.first_arc, active ? token.n_arcs : 0, subtract_rounded(token.cost, job.best), token.number);
  }
  if (lane_number() == 0 && n_active > 0) atomicAdd(&lane.n_active, n_active);
}

}  // namespace asr::cuda
