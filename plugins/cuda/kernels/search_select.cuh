// SPDX-License-Identifier: Apache-2.0
// Step 1 of a frame: which tokens are expanded. The beam, min_active and max_active all come down to one threshold of the
// keys (cost, state). Where one of the last two cuts, it is the k-th smallest key, found exactly: a histogram over the beam
// tells the bin of costs that it is in, and among the few tokens of that bin digits of 11 bits from the top tell the rest,
// until a bin is taken whole. Most frames need none of that.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"

namespace asr::cuda {

// The bin with the k-th smallest of the tokens for which bin_of(token, &bin) is true; also how many are in the bin, and which
// of these it is.
template <typename BinOf>
__device__ inline uint32_t block_find_bin(Lane &lane, uint32_t k, const BinOf &bin_of) {
  const SearchToken *const tokens = lane.job.tokens[lane.job.current];
  const uint32_t n_tokens = lane.job.n_tokens, n_own = (kBins + blockDim.x - 1) / blockDim.x;
  const uint32_t first_bin = threadIdx.x * n_own;
  for (uint32_t b = threadIdx.x; b < kBins; b += blockDim.x) lane.histogram[b] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < n_tokens; i += blockDim.x) {
    uint32_t bin;
    if (bin_of(tokens[i], &bin)) atomicAdd(&lane.histogram[bin], 1u);
  }
  __syncthreads();
  uint32_t n = 0, total;
  for (uint32_t b = first_bin; b < min(first_bin + n_own, kBins); ++b) n += lane.histogram[b];
  uint32_t before = block_scan(n, lane.sums, &total);
  if (before < k && k <= before + n) {
    uint32_t bin = first_bin;
    while (before + lane.histogram[bin] < k) before += lane.histogram[bin++];
    lane.bin = bin, lane.n_in_bin = lane.histogram[bin], lane.n_left = k - before;
  }
  __syncthreads();
  return lane.bin;
}

// The k-th smallest key of the tokens; 0 < k <= n_tokens.
__device__ inline unsigned long long block_kth_key(Lane &lane, uint32_t k) {
  const float best = lane.job.best, scale = kBins / lane.job.beam.beam;
  const auto bin_of_cost = [&](float cost) {
    return min(kBins - 1, static_cast<uint32_t>(__fmul_rn(__fsub_rn(cost, best), scale)));
  };
  const uint32_t cost_bin = block_find_bin(lane, k, [&](const SearchToken &token, uint32_t *bin) {
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
    const uint32_t digit = block_find_bin(lane, lane.n_left, [&](const SearchToken &token, uint32_t *bin) {
      const unsigned long long key = make_key(token.cost, token.state);
      *bin = static_cast<uint32_t>(key >> shift) & ((1u << width) - 1);
      return agrees(token, key);
    });
    prefix = prefix << width | digit;
    top = shift;
  } while (top > 0 && lane.n_in_bin != lane.n_left);
  if (threadIdx.x == 0) lane.threshold = 0;
  __syncthreads();
  const SearchToken *const tokens = lane.job.tokens[lane.job.current];
  for (uint32_t i = threadIdx.x; i < lane.job.n_tokens; i += blockDim.x) {
    const unsigned long long key = make_key(tokens[i].cost, tokens[i].state);
    if (agrees(tokens[i], key)) atomicMax(&lane.threshold, key);
  }
  __syncthreads();
  return lane.threshold;
}

__device__ inline unsigned long long block_threshold(Lane &lane) {
  const SearchJob &job = lane.job;
  if (job.n_within < job.beam.min_active) {
    return job.n_tokens <= job.beam.min_active ? ~0ull : block_kth_key(lane, job.beam.min_active);
  }
  if (job.n_within > job.beam.max_active) return block_kth_key(lane, job.beam.max_active);
  return make_key(__fadd_rn(job.best, job.beam.beam), 0xffffffffu);
}

// A first bound for the emitting arcs: few arcs of a best token are enough to keep most of what is beyond the beam out of the
// table.
__device__ inline void lower_best(Lane &lane, const float *row, uint32_t first_arc, uint32_t n_arcs) {
  float least = CUDART_INF_F;
#pragma unroll
  for (uint32_t a = 0; a < 4; ++a) {
    if (a < n_arcs) least = fminf(least, arc_cost<true>(lane.job.beam, row, lane.job.graph.arcs[first_arc + a], 0.0f));
  }
  if (least <= FLT_MAX) atomicMin(&lane.best, ordered(least));
}

// Puts the active tokens, with costs relative to the best one's, on list 0. The loads of a few tokens of a lane are under way
// together.
__device__ inline void block_select(Lane &lane, const float *row) {
  constexpr uint32_t kTogether = 4;
  const unsigned long long threshold = block_threshold(lane);
  const SearchJob &job = lane.job;
  const SearchToken *const tokens = job.tokens[job.current];
  uint32_t n_active = 0;
  for (uint32_t first = warp_number() * kWarp; first < job.n_tokens; first += kTogether * blockDim.x) {
    SearchToken token[kTogether];
    uint32_t begin[kTogether], n_arcs[kTogether];
#pragma unroll
    for (uint32_t k = 0; k < kTogether; ++k) {
      const uint32_t i = first + k * blockDim.x + lane_number();
      token[k] = i < job.n_tokens ? tokens[i] : SearchToken{0, CUDART_INF_F, 0};
    }
#pragma unroll
    for (uint32_t k = 0; k < kTogether; ++k) {
      const bool active =
          first + k * blockDim.x + lane_number() < job.n_tokens && make_key(token[k].cost, token[k].state) <= threshold;
      begin[k] = active ? job.graph.begins[token[k].state].emitting : 0;
      n_arcs[k] = active ? job.graph.begins[token[k].state + 1].emitting - begin[k] : 0;
      n_active += __popc(__ballot_sync(kAllLanes, active));
    }
#pragma unroll
    for (uint32_t k = 0; k < kTogether; ++k) {
      if (n_arcs[k] > 0 && token[k].cost == job.best) lower_best(lane, row, begin[k], n_arcs[k]);
      const uint32_t i = first + k * blockDim.x + lane_number();
      warp_add_item(lane, 0, begin[k], n_arcs[k], __fsub_rn(token[k].cost, job.best), i);
    }
  }
  if (lane_number() == 0 && n_active > 0) atomicAdd(&lane.n_active, n_active);
}

}  // namespace asr::cuda
