// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame. The arcs of all items of a list are numbered through and shared out evenly: a warp takes a stretch
// of them, finds its first item, and from then on 32 arcs at a time: as every item has an arc, the items that
// begin among those 32 are the next 32 at most, one load and one mask tell each lane its own. An arc within the beam so far
// lowers the key of its state's slot, and if it did, or if there is to be a lattice, is remembered as a candidate. After a
// barrier the candidate that is the least of its state has won, writes its path's record, and goes on the next list if its
// state has epsilon arcs.
#pragma once

#include <cfloat>

#include "plugins/cuda/kernels/search_lane.cuh"

namespace asr::cuda {

// The last item that begins at or before an arc: 32 places are looked at at a time, by the lanes of a warp.
__device__ inline uint32_t warp_item_of(const ExpandItem *items, uint32_t n_items, uint32_t arc) {
  uint32_t low = 0, n = n_items;  // it is one of n from `low` on
  while (n > 1) {
    const uint32_t step = (n + kWarp - 1) / kWarp, place = lane_number() * step;
    const bool at_or_before = place < n && items[low + place].offset <= arc;
    const uint32_t last = __popc(__ballot_sync(kAllLanes, at_or_before)) - 1;
    low += last * step;
    n = min(step, n - last * step);
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

// The arcs of a list's items, 32 at a time: a warp's stretch of them.
class ArcStretch {
 public:
  // An arc that a lane has to follow, its token and the token's cost.
  struct Step {
    bool there = false;
    uint32_t arc_index = 0, token = 0;
    float from_cost = 0;
    SearchArc arc{0, 0, 0, 0};
  };

  __device__ ArcStretch(const Lane &lane, uint32_t list)
      : items_(lane.list[list]), arcs_(lane.job.graph.arcs), n_items_(static_cast<uint32_t>(lane.list_size[list] >> 32)) {
    const auto n_arcs = static_cast<uint32_t>(lane.list_size[list]);
    const uint32_t n_steps = (n_arcs + blockDim.x - 1) / blockDim.x;  // of each warp
    base_ = warp_number() * n_steps * kWarp;
    end_ = min(n_arcs, base_ + n_steps * kWarp);
    if (base_ < end_) item_ = warp_item_of(items_, n_items_, base_);
  }

  __device__ bool at_end() const { return base_ >= end_; }

  // The step of each lane; then goes on by 32.
  __device__ Step next() {
    Step step;
    const uint32_t following = item_ + 1 + lane_number();
    const uint32_t starts = following < n_items_ ? items_[following].offset - base_ : kWarp;
    const uint32_t mask = warp_or(starts < kWarp ? 1u << starts : 0u);
    const uint32_t own = item_ + __popc(mask & ((2u << lane_number()) - 1));
    step.there = base_ + lane_number() < end_;
    if (step.there) {
      const ExpandItem from = items_[own];
      step.arc_index = from.first_arc + (base_ + lane_number() - from.offset);
      step.arc = arcs_[step.arc_index];
      step.token = from.token;
      step.from_cost = from.cost;
    }
    item_ += __popc(mask);
    base_ += kWarp;
    return step;
  }

 private:
  const ExpandItem *const items_;
  const SearchArc *const arcs_;
  const uint32_t n_items_;
  uint32_t base_, end_, item_ = 0;
};

// Remembers epsilon arcs for the lattice, for the lanes that want to.
__device__ inline void warp_add_epsilon_link(Lane &lane, bool wanted, const EpsilonLink &link) {
  const uint32_t place = warp_append(&lane.n_epsilon_links, wanted);
  if (wanted && place < lane.max_epsilon_links) lane.epsilon_links[place] = link;
  if (wanted && place >= lane.max_epsilon_links) report_full(lane, kCandidatesFull);
}

// Follows the arcs of a list's items into candidates. The loads of a step are under way while the one before enters the table.
template <bool kEmitting, typename Team>
__device__ inline void block_expand(Lane &lane, uint32_t list, const float *row) {
  const Table<Team> table(lane);
  const SearchBeam beam = lane.job.beam;
  const bool makes_lattice = lane.job.lattice.lattice_beam > 0;
  const uint32_t first_candidate = kEmitting ? 0 : lane.first_candidate;
  Candidate *const candidates = lane.candidates + first_candidate;
  const uint32_t max_candidates = lane.max_candidates - first_candidate;
  if (threadIdx.x == 0) lane.n_arcs += static_cast<uint32_t>(lane.list_size[list]);
  if (__any_sync(kAllLanes, lane.is_full != 0)) return;  // the list may have holes
  ArcStretch stretch(lane, list);
  if (stretch.at_end()) return;
  ArcStretch::Step step = stretch.next();
  for (bool last = false; !last;) {
    ArcStretch::Step following;
    last = stretch.at_end();
    if (!last) following = stretch.next();
    const float cost = step.there ? arc_cost<kEmitting>(beam, row, step.arc, step.from_cost) : CUDART_INF_F;
    const float bound = kEmitting ? warp_lower_bound(lane, cost, step.there) : lane.bound;
    bool keep = step.there && cost <= bound, claimed = false;
    uint32_t slot = 0;
    if (keep) {
      slot = table.find(step.arc.next_state, &claimed);
      keep = slot != kNoSlot && (table.lower(slot, make_key(cost, step.arc_index + 1)) || makes_lattice);
    }
    __syncwarp();
    table.warp_add_claims(slot, claimed);
    const uint32_t place = warp_append(&lane.n_candidates[list], keep);
    if (keep && place < max_candidates) {
      const uint32_t from = kEmitting ? step.token : *table.record_at(step.token);
      candidates[place] = {slot | (step.arc.label & SearchArc::kEpsilon), step.arc_index, cost, from};
    }
    if (keep && place >= max_candidates) report_full(lane, kCandidatesFull);
    if (!kEmitting && makes_lattice) warp_add_epsilon_link(lane, keep, {step.token, slot, step.arc_index, step.from_cost});
    step = following;
  }
}

// Makes tokens of the candidates that won, and the list of those whose epsilon arcs are to be followed. What an epsilon arc won
// must be undercut to be replaced in the next round. Emitting arcs need no such mark, since an epsilon arc of the same cost has
// the higher index.
template <bool kEmitting, typename Team>
__device__ inline void block_resolve(Lane &lane, uint32_t list, const float *row) {
  const Table<Team> table(lane);
  const SearchTables graph = lane.job.graph;
  const uint32_t first_candidate = kEmitting ? 0 : lane.first_candidate;
  const Candidate *const candidates = lane.candidates + first_candidate;
  const SearchToken *const tokens = lane.job.tokens[lane.job.current];
  TraceRecord *const records = lane.job.records;
  uint32_t *const n_records = of_leader<Team>(&lane.job.n_records);
  const uint32_t n_candidates = min(lane.n_candidates[list], lane.max_candidates - first_candidate);
  const float bound = lane.bound;
  Candidate following{0, 0, 0, 0};
  if (threadIdx.x < n_candidates) following = candidates[threadIdx.x];
  for (uint32_t first = warp_number() * kWarp; first < n_candidates; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    const Candidate candidate = following;
    if (i + blockDim.x < n_candidates) following = candidates[i + blockDim.x];
    bool won = false;
    if (i < n_candidates) {
      const unsigned long long key = make_key(candidate.cost, candidate.arc + 1);
      won = candidate.cost <= bound && table.key(candidate.slot & Candidate::kSlotMask) == key;
    }
    const uint32_t record = warp_append(n_records, won), slot = candidate.slot & Candidate::kSlotMask;
    uint32_t epsilon_begin = 0, n_arcs = 0;
    if (won) {
      if ((candidate.slot & Candidate::kEpsilon) != 0) {
        const uint32_t state = table.state(slot);
        epsilon_begin = graph.begins[state].epsilon;
        n_arcs = graph.begins[state + 1].epsilon - epsilon_begin;
      }
      float acoustic_cost = 0.0f;
      if (kEmitting) {
        acoustic_cost = __fsub_rn(0.0f, __ldg(row + (graph.arcs[candidate.arc].label & SearchArc::kPdfMask)));
      } else {
        *table.key_at(slot) = make_key(candidate.cost, 0);
      }
      *table.record_at(slot) = record;
      if (record < lane.job.max_records) {
        const uint32_t previous = kEmitting ? tokens[candidate.from].record : candidate.from;
        records[record] = {previous, candidate.arc, acoustic_cost};
      } else {
        report_full(lane, kTraceFull);
      }
    }
    if (!kEmitting) warp_lower_bound(lane, candidate.cost, won);
    warp_add_item(lane, list ^ 1, epsilon_begin, n_arcs, candidate.cost, slot);
  }
}

}  // namespace asr::cuda
