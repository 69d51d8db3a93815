// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame. The arcs of all items of a list are numbered through and shared out evenly: a warp takes a stretch
// of them, finds its first item by bisection, and from then on 32 arcs at a time: as every item has an arc, the items that
// begin among those 32 are the next 32 at most, one load and one mask tell each lane its own. An arc within the beam so far
// enters its state's entry by a 64-bit minimum and is remembered as a candidate. After a barrier the candidate that
// is the minimum of its state has won, writes its path's record, and goes on the next list if its state has epsilon arcs.
#pragma once

#include <cfloat>

#include "plugins/cuda/kernels/search_lane.cuh"

namespace asr::cuda {

// The last item that begins at or before an arc.
__device__ inline uint32_t item_of(const ExpandItem *items, uint32_t n_items, uint32_t arc) {
  uint32_t low = 0, high = n_items;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (items[middle].offset <= arc ? low : high) = middle;
  }
  return low;
}

__device__ inline float bound_of(float best, float beam) { return fminf(__fadd_rn(best, beam), FLT_MAX); }

// The cost of an arc after a token of cost c. An arc whose score is not finite is closed.
template <bool kEmitting>
__device__ inline float arc_cost(const SearchBeam &beam, const float *row, const SearchArc &arc, float c) {
  const float word_cost = (arc.label & SearchArc::kWord) != 0 ? beam.word_insertion_cost : 0.0f;
  const float cost = __fadd_rn(c, __fadd_rn(arc.graph_cost, word_cost));
  if (!kEmitting) return cost;
  const float score = __fmul_rn(-beam.acoustic_scale, __ldg(row + (arc.label & SearchArc::kPdfMask)));
  return fabsf(score) <= FLT_MAX ? __fadd_rn(cost, score) : CUDART_INF_F;
}

// Lowers the least cost so far by the costs of a warp, and returns the bound by it.
__device__ inline float warp_lower_bound(Lane &lane, float cost, bool counts) {
  const uint32_t least = warp_min(counts ? ordered(cost) : 0xffffffffu);
  if (lane_number() == 0 && least < *const_cast<volatile uint32_t *>(&lane.best)) atomicMin(&lane.best, least);
  __syncwarp();
  return bound_of(cost_of(*const_cast<volatile uint32_t *>(&lane.best)), lane.job.beam.beam);
}

// Follows the arcs of a list's items into candidates.
template <bool kEmitting>
__device__ inline void block_expand(Lane &lane, uint32_t list, const float *row) {
  const unsigned long long size = lane.list_size[list];
  const uint32_t n_items = static_cast<uint32_t>(size >> 32), n_arcs = static_cast<uint32_t>(size);
  const ExpandItem *const items = lane.list[list];
  if (threadIdx.x == 0) lane.n_arcs += n_arcs;
  const uint32_t n_steps = (n_arcs + blockDim.x - 1) / blockDim.x;  // of each warp
  const uint32_t begin = warp_number() * n_steps * kWarp, end = min(n_arcs, begin + n_steps * kWarp);
  if (begin >= end) return;
  uint32_t item = item_of(items, n_items, begin);
  for (uint32_t base = begin; base < end; base += kWarp) {
    const uint32_t next = item + 1 + lane_number();
    const uint32_t starts = next < n_items ? items[next].offset - base : kWarp;
    const uint32_t mask = warp_or(starts < kWarp ? 1u << starts : 0u);
    item += __popc(mask & ((2u << lane_number()) - 1));
    const bool there = base + lane_number() < end;
    float cost = CUDART_INF_F;
    uint32_t arc_index = 0, next_state = 0, record = 0;
    if (there) {
      const ExpandItem from = items[item];
      arc_index = from.first_arc + (base + lane_number() - from.offset);
      const SearchArc arc = lane.job.graph.arcs[arc_index];
      next_state = arc.next_state;
      record = from.record;
      cost = arc_cost<kEmitting>(lane.job.beam, row, arc, from.cost);
    }
    const float bound = kEmitting ? warp_lower_bound(lane, cost, there) : lane.bound;
    const bool keep = there && cost <= bound;
    uint32_t slot = 0;
    if (keep) {
      slot = find_entry(lane, next_state);
      atomicMin(&lane.table[slot].key, make_key(cost, arc_index + 1));
    }
    __syncwarp();
    const uint32_t place = warp_append(&lane.n_candidates[list], keep);
    if (keep && place < lane.max_candidates) lane.candidates[place] = {slot, arc_index, cost, record};
    if (keep && place >= lane.max_candidates) report_full(lane, kCandidatesFull);
    item = __shfl_sync(kAllLanes, item, kWarp - 1);
  }
}

// Makes tokens of the candidates that won, and the list of those whose epsilon arcs are to be followed.
template <bool kEmitting>
__device__ inline void block_resolve(Lane &lane, uint32_t list, const float *row) {
  const SearchTables &graph = lane.job.graph;
  const uint32_t n_candidates = min(lane.n_candidates[list], lane.max_candidates);
  for (uint32_t first = warp_number() * kWarp; first < n_candidates; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    Candidate candidate{0, 0, 0, 0};
    unsigned long long key = 0;
    bool won = false;
    if (i < n_candidates) {
      candidate = lane.candidates[i];
      key = make_key(candidate.cost, candidate.arc + 1);
      won = candidate.cost <= lane.bound && __ldcg(&lane.table[candidate.slot].key) == key;
    }
    const uint32_t record = warp_append(&lane.job.n_records, won);
    uint32_t epsilon_begin = 0, n_arcs = 0;
    if (won) {
      const SearchArc arc = graph.arcs[candidate.arc];
      const float acoustic_cost = kEmitting ? __fsub_rn(0.0f, __ldg(row + (arc.label & SearchArc::kPdfMask))) : 0.0f;
      if (record < lane.job.max_records) {
        lane.job.records[record] = {candidate.record, candidate.arc, acoustic_cost};
      } else {
        report_full(lane, kTraceFull);
      }
      store_entry(&lane.table[candidate.slot], arc.next_state, record, key & ~0xffffffffull);
      if ((arc.label & SearchArc::kEpsilon) != 0) {
        epsilon_begin = graph.begins[arc.next_state].epsilon;
        n_arcs = graph.begins[arc.next_state + 1].epsilon - epsilon_begin;
      }
    }
    if (!kEmitting) warp_lower_bound(lane, candidate.cost, won);
    warp_add_item(lane, list ^ 1, epsilon_begin, n_arcs, candidate.cost, record);
  }
}

}  // namespace asr::cuda
