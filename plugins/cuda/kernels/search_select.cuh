// SPDX-License-Identifier: Apache-2.0
// Step 1 of a frame: which tokens are expanded. The beam, min_active and max_active all come down to one threshold of the
// keys (cost, state). Where one of the last two cuts, it is the k-th smallest key, found exactly by digits of 11 bits from the
// top: a histogram of the keys that agree so far, until the threshold's bin is taken whole. Most frames need none of that.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"

namespace asr::cuda {

// The k-th smallest key of the tokens, or one above it and below the next; 0 < k <= n_tokens.
__device__ inline unsigned long long block_kth_key(Lane &lane, uint32_t k) {
  const SearchToken *const tokens = lane.job.tokens[lane.job.current];
  const uint32_t n_tokens = lane.job.n_tokens, n_bins = (kBins + blockDim.x - 1) / blockDim.x;
  const uint32_t first_bin = threadIdx.x * n_bins;
  unsigned long long prefix = 0;
  uint32_t top = 64;
  while (top > 0) {
    const uint32_t width = min(11u, top), shift = top - width;
    for (uint32_t b = threadIdx.x; b < kBins; b += blockDim.x) lane.histogram[b] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n_tokens; i += blockDim.x) {
      const unsigned long long key = make_key(tokens[i].cost, tokens[i].state);
      if (top < 64 && key >> top != prefix) continue;
      atomicAdd(&lane.histogram[(key >> shift) & ((1u << width) - 1)], 1u);
    }
    __syncthreads();
    uint32_t n = 0, total;
    for (uint32_t b = first_bin; b < min(first_bin + n_bins, kBins); ++b) n += lane.histogram[b];
    uint32_t before = block_scan(n, lane.sums, &total);
    if (before < k && k <= before + n) {
      uint32_t bin = first_bin;
      while (before + lane.histogram[bin] < k) before += lane.histogram[bin++];
      lane.bin = bin, lane.n_in_bin = lane.histogram[bin], lane.n_left = k - before;
    }
    __syncthreads();
    prefix = prefix << width | lane.bin;
    k = lane.n_left;
    top = shift;
    if (lane.n_in_bin == k) break;
  }
  return top == 0 ? prefix : prefix << top | ((1ull << top) - 1);
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
  for (uint32_t a = 0; a < min(n_arcs, 4u); ++a) {
    const float cost = arc_cost<true>(lane.job.beam, row, lane.job.graph.arcs[first_arc + a], 0.0f);
    if (cost <= FLT_MAX) atomicMin(&lane.best, ordered(cost));
  }
}

// Puts the active tokens, with costs relative to the best one's, on list 0.
__device__ inline void block_select(Lane &lane, const float *row) {
  const unsigned long long threshold = block_threshold(lane);
  const SearchJob &job = lane.job;
  const SearchToken *const tokens = job.tokens[job.current];
  uint32_t n_active = 0;
  for (uint32_t first = warp_number() * kWarp; first < job.n_tokens; first += blockDim.x) {
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
      if (token.cost == job.best) lower_best(lane, row, begin, n_arcs);
    }
    n_active += __popc(__ballot_sync(kAllLanes, active));
    warp_add_item(lane, 0, begin, n_arcs, __fsub_rn(token.cost, job.best), token.record);
  }
  if (lane_number() == 0 && n_active > 0) atomicAdd(&lane.n_active, n_active);
}

}  // namespace asr::cuda
