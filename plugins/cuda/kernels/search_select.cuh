// SPDX-License-Identifier: Apache-2.0
// Step 1 of a frame: which tokens are expanded. The beam, min_active and max_active all come down to one threshold of the
// keys (cost, state). Where one of the last two cuts, it is the k-th smallest key, found exactly: a histogram over the beam
// tells the bin of costs that it is in, and among the few tokens of that bin digits of 11 bits from the top tell the rest,
// until a bin is taken whole. Most frames need none of that.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"

namespace asr::cuda {

// Calls action(token) for a block's share of the tokens.
template <typename Team, typename Action>
__device__ inline void for_own_tokens(const Lane &lane, const Action &action) {
  const SearchToken *const tokens = lane.job.tokens[lane.job.current];
  for (uint32_t i = team_thread_number<Team>(); i < lane.job.n_tokens; i += team_n_threads<Team>()) action(tokens[i]);
}

// The histograms of all blocks together.
template <typename Team>
__device__ inline const uint32_t *team_add_histograms(Lane &lane) {
  Team::sync();
  if constexpr (!Team::kIsCluster) {
    return lane.histogram;
  } else {
    // A block adds up its share of the bins, eight threads each, and tells the others.
    constexpr uint32_t kAdders = 8;
    const uint32_t n_bins = kBins / Team::size(), first_bin = Team::rank() * n_bins, adder = threadIdx.x % kAdders;
    for (uint32_t b = threadIdx.x / kAdders; b < n_bins; b += blockDim.x / kAdders) {
      uint32_t n = 0;
      for (uint32_t rank = adder; rank < Team::size(); rank += kAdders)
        n += *Team::of_block(&lane.histogram[first_bin + b], rank);
      for (uint32_t d = 1; d < kAdders; d *= 2) n += __shfl_xor_sync(kAllLanes, n, d);
      for (uint32_t rank = adder; rank < Team::size(); rank += kAdders)
        *Team::of_block(&lane.team_histogram[first_bin + b], rank) = n;
    }
    Team::sync();
    return lane.team_histogram;
  }
}

// The bin with the k-th smallest of the tokens for which bin_of(token, &bin) is true; also how many are in the bin, and which
// of these it is.
template <typename Team, typename BinOf>
__device__ inline uint32_t team_find_bin(Lane &lane, uint32_t k, const BinOf &bin_of) {
  const uint32_t n_own = (kBins + blockDim.x - 1) / blockDim.x, first_bin = threadIdx.x * n_own;
  for (uint32_t b = threadIdx.x; b < kBins; b += blockDim.x) lane.histogram[b] = 0;
  __syncthreads();
  for_own_tokens<Team>(lane, [&](const SearchToken &token) {
    uint32_t bin;
    if (bin_of(token, &bin)) atomicAdd(&lane.histogram[bin], 1u);
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

// The k-th smallest key of the tokens; 0 < k <= n_tokens.
template <typename Team>
__device__ inline unsigned long long team_kth_key(Lane &lane, uint32_t k) {
  const float best = lane.job.best, scale = kBins / lane.job.beam.beam;
  const auto bin_of_cost = [&](float cost) {
    return min(kBins - 1, static_cast<uint32_t>(__fmul_rn(__fsub_rn(cost, best), scale)));
  };
  const uint32_t cost_bin = team_find_bin<Team>(lane, k, [&](const SearchToken &token, uint32_t *bin) {
    *bin = bin_of_cost(token.cost);
    return true;
  });
  unsigned long long prefix = 0;
  uint32_t top = 64;
  const auto agrees = [&](const SearchToken &token, unsigned long long key) {
    return bin_of_cost(token.cost) == cost_bin && (top == 64 || key >> top == prefix);
  };
  do {
    const uint32_t width = min(11u, top), shift = top - width;
    const uint32_t digit = team_find_bin<Team>(lane, lane.n_left, [&](const SearchToken &token, uint32_t *bin) {
      const unsigned long long key = make_key(token.cost, token.state);
      *bin = static_cast<uint32_t>(key >> shift) & ((1u << width) - 1);
      return agrees(token, key);
    });
    prefix = prefix << width | digit;
    top = shift;
  } while (top > 0 && lane.n_in_bin != lane.n_left);
  if (threadIdx.x == 0) lane.threshold = 0;
  __syncthreads();
  for_own_tokens<Team>(lane, [&](const SearchToken &token) {
    const unsigned long long key = make_key(token.cost, token.state);
    if (agrees(token, key)) atomicMax(&lane.threshold, key);
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
  return make_key(__fadd_rn(job.best, job.beam.beam), 0xffffffffu);
}

// A first bound for the emitting arcs: few arcs of a best token are enough to keep most of what is beyond the beam out of the
// table.
template <typename Team>
__device__ inline void lower_best(Lane &lane, const float *row, uint32_t first_arc, uint32_t n_arcs) {
  float least = CUDART_INF_F;
#pragma unroll
  for (uint32_t a = 0; a < 4; ++a) {
    if (a < n_arcs) least = fminf(least, arc_cost<true>(lane.job.beam, row, lane.job.graph.arcs[first_arc + a], 0.0f));
  }
  if (!(least <= FLT_MAX)) return;
  for (uint32_t rank = 0; rank < Team::size(); ++rank) atomicMin(Team::of_block(&lane.best, rank), ordered(least));
}

// Puts the active tokens, with costs relative to the best one's, on list 0: each block its share.
template <typename Team>
__device__ inline void team_select(Lane &lane, const float *row) {
  const unsigned long long threshold = team_threshold<Team>(lane);
  const SearchJob &job = lane.job;
  const SearchToken *const tokens = job.tokens[job.current];
  unsigned long long n_active = 0;
  for (uint32_t first = team_warp_number<Team>() * kWarp; first < job.n_tokens; first += team_n_threads<Team>()) {
    const uint32_t i = first + lane_number();
    SearchToken token{0, 0, 0};
    uint32_t begin = 0, n_arcs = 0;
    bool active = false;
    if (i < job.n_tokens) {
      token = tokens[i];
      active = make_key(token.cost, token.state) <= threshold;
    }
    if (active) {
      begin = job.graph.begins[token.state].emitting;
      n_arcs = job.graph.begins[token.state + 1].emitting - begin;
      if (token.cost == job.best) lower_best<Team>(lane, row, begin, n_arcs);
    }
    n_active += __popc(__ballot_sync(kAllLanes, active));
    warp_add_item(lane, 0, begin, n_arcs, __fsub_rn(token.cost, job.best), i);
  }
  if (lane_number() == 0 && n_active > 0) atomicAdd(&lane.n_active, n_active);
}

}  // namespace asr::cuda
